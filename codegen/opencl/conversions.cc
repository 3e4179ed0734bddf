// Writes values: conversions between types, and selections of lanes.
#include "codegen/clike/cat.h"
#include "codegen/opencl/kernel_writer.h"
#include "codegen/opencl/types.h"

namespace tg::opencl {

using clike::Append;
using clike::Cat;
using clike::Expr;
using clike::kEqual;
using clike::kPostfix;
using clike::kShift;
using clike::kTernary;
using clike::kUnary;
using clike::Text;

void OpenClWriter::Cast(const UOp* u, Expr& e) {
  const UOp* x = u->src(0);
  const DType from = x->dtype, to = u->dtype;
  const int lanes = to.lanes();
  if (to.is_bool()) {
    if (from.is_bool()) {
      e.text = Operand(x, kTernary);
      e.mask_bits = IsMask(x) ? MaskBits(x) : 0;
      return;
    }
    e.text = Cat(Operand(x, kEqual), " != ", opencl::Literal(from.scalar(), 0, lanes > 1));
    e.precedence = kEqual;
    if (lanes > 1) e.mask_bits = BitWidth(from.scalar());
    return;
  }
  // A function that converts vectors between these types. NVIDIA lacks those of half.
  const auto conversion = [&](Scalar source, Scalar target) {
    if (source == Scalar::kF16 || target == Scalar::kF16) {
      return prelude_->ConvertLanes(source, target, lanes);
    }
    return Cat("convert_", opencl::ValueType(target, lanes));
  };
  if (IsMask(x)) {
    const Scalar element = MaskBits(x) == 8    ? Scalar::kI8
                           : MaskBits(x) == 16 ? Scalar::kI16
                           : MaskBits(x) == 64 ? Scalar::kI64
                                               : Scalar::kI32;
    e.text = Cat(conversion(element, to.scalar()), "(", Operand(x, kShift), " & ",
                 opencl::Literal(element, 1, true), ")");
    e.precedence = kPostfix;
    return;
  }
  const std::string type = opencl::ValueType(to.scalar(), lanes);
  if (from.is_float() && !to.is_float()) {
    Text value = Operand(x, kTernary, true);
    Scalar source = from.scalar();
    if (source == Scalar::kF16) {
      source = Scalar::kF32;
      value = lanes > 1 ? Cat(conversion(from.scalar(), source), "(", value, ")")
                        : Cat("(float)", Operand(x, kUnary));
    }
    e.text = Cat(prelude_->FloatToInt(source, to.scalar(), lanes), "(", value, ")");
    e.precedence = kPostfix;
  } else if (lanes > 1) {
    e.text = Cat(conversion(from.scalar(), to.scalar()), "(", Operand(x, kTernary, true), ")");
    e.precedence = kPostfix;
  } else {
    e.text = Cat("(", type, ")", Operand(x, kUnary));
    e.precedence = kUnary;
  }
}

void OpenClWriter::Bitcast(const UOp* u, Expr& e) {
  const UOp* x = u->src(0);
  if (x->dtype.is_bool() || u->dtype.is_bool()) return Cast(u, e);
  const int lanes = u->dtype.lanes();
  e.text = Cat(prelude_->BitCast(Type(x->dtype.scalar(), lanes), Type(u->dtype.scalar(), lanes)),
               "(", Operand(x, kTernary, true), ")");
  e.precedence = kPostfix;
}

namespace {

// Appends the selector of these lanes of a vector of `of` lanes. The two halves have short names.
void AppendSelector(Text& out, std::span<const int64_t> lanes, int of) {
  const auto is = [&](int64_t first, int64_t step) {
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i] != first + step * static_cast<int64_t>(i)) return false;
    }
    return true;
  };
  if (lanes.size() >= 2 && 2 * static_cast<int>(lanes.size()) == of) {
    const char* half = is(0, 1)        ? ".lo"
                       : is(of / 2, 1) ? ".hi"
                       : is(0, 2)      ? ".even"
                       : is(1, 2)      ? ".odd"
                                       : nullptr;
    if (half) {
      out.Add(std::string_view(half));
      return;
    }
  }
  out.Add(".s");
  for (int64_t lane : lanes) out.Add("0123456789abcdef"[lane]);
}

}  // namespace

absl::Status OpenClWriter::Lanes(const UOp* u, Expr& e) {
  const int lanes = u->dtype.lanes();
  const bool mask = IsMask(u);
  if (u->op == Op::kGep && u->src(0)->dtype.lanes() > 1) {
    const UOp* vector = u->src(0);
    if (vector->dtype.lanes() > 16) return Unsupported(u, "OpenCL's vectors have up to 16 lanes");
    AppendOperand(e.text, vector, kPostfix, true);
    AppendSelector(e.text, u->list(), vector->dtype.lanes());
    e.precedence = kPostfix;
    if (mask) e.mask_bits = MaskBits(vector);
    if (u->dtype.is_bool() && lanes == 1) {
      e.text.Add(" != 0");
      e.precedence = kEqual;
    }
    return absl::OkStatus();
  }
  if (mask) {
    e.mask_bits = 32;
    for (const UOp* s : u->srcs()) {
      if (IsMask(s)) e.mask_bits = MaskBits(s);
    }
  }
  const std::string type =
      mask ? opencl::MaskType(e.mask_bits, lanes) : Type(u->dtype.scalar(), lanes);
  if (lanes == 1) {
    AppendOperand(e.text, u->src(0), kTernary, true);
    e.precedence = kTernary;
    return absl::OkStatus();
  }
  Append(e.text, "(", type, ")(");
  for (size_t i = 0; i < u->num_srcs;) {
    const UOp* s = u->src(i);
    // A run of four or more equal scalars is written as a vector of that scalar.
    size_t run = 1;
    while (s->dtype.lanes() == 1 && i + run < u->num_srcs && u->src(i + run) == s) ++run;
    size_t taken = 1;
    if (run == u->num_srcs) {
      taken = run;
    } else if (run >= 4) {
      while (taken * 2 <= run) taken *= 2;
    }
    const bool as_vector = taken > 1 && taken < u->num_srcs;
    if (i > 0) e.text.Add(", ");
    if (as_vector) {
      const int n = static_cast<int>(taken);
      Append(e.text, "(", mask ? opencl::MaskType(e.mask_bits, n) : Type(u->dtype.scalar(), n),
             ")(");
    }
    if (IsMask(s)) {
      e.text.Add(Mask(s, e.mask_bits, kTernary));
    } else if (s->dtype.lanes() > 1) {
      AppendOperand(e.text, s, kTernary, true);
    } else {
      AppendScalar(e.text, s);
    }
    if (as_vector) e.text.Add(')');
    i += taken;
  }
  e.text.Add(')');
  e.precedence = kUnary;
  return absl::OkStatus();
}

}  // namespace tg::opencl
