// Writes conversions between types and choices of lanes, whatever the language.
#include "codegen/clike/cat.h"
#include "codegen/clike/kernel_writer.h"

namespace tg::clike {

std::string KernelWriter::Literal(Scalar s, int64_t bits, bool exact) const {
  return LiteralOf(*language_.words, s, bits, exact, [&] { return NanLiteral(s, bits); });
}

void KernelWriter::Cast(const UOp* u, Expr& e) {
  const UOp* x = u->src(0);
  const Scalar from = Shown(x->dtype.scalar()), to = Shown(u->dtype.scalar());
  const int lanes = u->dtype.lanes();
  if (SpecialCast(u, e)) return;
  if (to == Scalar::kBool) {
    if (from == Scalar::kBool) {
      e.text = Operand(x, kTernary);
      e.mask_bits = IsMask(x) ? MaskBits(x) : 0;
      return;
    }
    e.text = Cat(Operand(x, kEqual), " != ", Literal(from, 0, lanes > 1));
    e.precedence = kEqual;
    if (lanes > 1) e.mask_bits = BitWidth(from);
    return;
  }
  e.precedence = kPostfix;
  if (IsMask(x)) {
    const Scalar lane = IntOfSize(MaskBits(x), /*is_signed=*/true);
    e.text = ConvertVector(lane, to, lanes, Cat(Operand(x, kShift), " & ", Literal(lane, 1, true)));
  } else if (IsFloat(from) && !IsFloat(to)) {
    Text value = Operand(x, kTernary, true);
    Scalar source = from;
    if (source == Scalar::kF16) {
      source = Scalar::kF32;
      value = lanes > 1 ? Text(ConvertVector(from, source, lanes, value))
                        : Text(Cat("(", ValueType(source, 1), ")", Operand(x, kUnary)));
    }
    e.text = Cat(FloatToInt(source, to, lanes), "(", value, ")");
  } else if (lanes > 1) {
    e.text = ConvertVector(from, to, lanes, Operand(x, kTernary, true));
  } else {
    e.text = Cat("(", ValueType(to, 1), ")", Operand(x, kUnary));
    e.precedence = kUnary;
  }
}

Text KernelWriter::Part(const UOp* u, int mask_bits) {
  Text out;
  if (IsMask(u)) {
    out.Add(Mask(u, mask_bits, kTernary));
  } else if (u->dtype.lanes() > 1) {
    AppendOperand(out, u, kTernary, true);
  } else {
    AppendScalar(out, u);
  }
  return out;
}

absl::Status KernelWriter::Lanes(const UOp* u, Expr& e) {
  const int lanes = u->dtype.lanes();
  if (u->op == Op::kGep && u->src(0)->dtype.lanes() > 1) {
    const UOp* vector = u->src(0);
    if (vector->dtype.lanes() > language_.max_lanes) {
      return Unsupported(
          u, Cat(language_.title, "'s vectors have up to ", language_.max_lanes, " lanes"));
    }
    if (IsMask(u)) e.mask_bits = MaskBits(vector);
    e.precedence = kPostfix;
    PickLanes(u, vector, e);
    if (u->dtype.is_bool() && lanes == 1) {
      e.text.Add(" != 0");
      e.precedence = kEqual;
    }
    return absl::OkStatus();
  }
  if (lanes == 1) {
    AppendOperand(e.text, u->src(0), kTernary, true);
    e.precedence = kTernary;
    return absl::OkStatus();
  }
  if (IsMask(u)) {
    e.mask_bits = 32;
    for (const UOp* s : u->srcs()) {
      if (IsMask(s)) e.mask_bits = MaskBits(s);
    }
  }
  e.precedence = kPostfix;
  MakeVector(u, IsMask(u) ? IntOfSize(e.mask_bits, true) : Shown(u->dtype.scalar()), e);
  return absl::OkStatus();
}

}  // namespace tg::clike
