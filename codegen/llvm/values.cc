// Writes the values of elementwise ops.
#include "codegen/llvm/kernel_writer.h"
#include "ir/value.h"

namespace tg::llvm_ir {
namespace {

bool IsUnsignedOrBool(Scalar s) { return IsUnsigned(s) || s == Scalar::kBool; }

}  // namespace

absl::Status KernelWriter::WriteValue(const UOp* u) {
  switch (u->op) {
    case Op::kGep:
    case Op::kSplat:
    case Op::kVectorize:
    case Op::kCat:
      Set(u, Lanes(u));
      return absl::OkStatus();
    case Op::kCast:
      Set(u, Cast(u));
      return absl::OkStatus();
    case Op::kBitcast: {
      const DType from = u->src(0)->dtype;
      if (from.is_bool() != u->dtype.is_bool()) {
        Set(u, Cast(u));
      } else if (ValueType(from) == ValueType(u->dtype)) {
        Set(u, Of(u->src(0)));
      } else {
        Set(u, Emit("bitcast ", Typed(u->src(0)), " to ", ValueType(u->dtype)));
      }
      return absl::OkStatus();
    }
    case Op::kNoop:
      Set(u, Of(u->src(0)));
      return absl::OkStatus();
    default:
      return Arithmetic(u);
  }
}

absl::Status KernelWriter::Arithmetic(const UOp* u) {
  const DType operand = u->src(u->op == Op::kWhere ? 1 : 0)->dtype;
  std::string value;
  if (u->op == Op::kWhere) {
    const std::string condition = Typed(u->src(0)), yes = Typed(u->src(1)), no = Typed(u->src(2));
    value = Emit("select ", condition, ", ", yes, ", ", no);
  } else if (operand.is_float()) {
    value = FloatOp(u);
  } else {
    value = IntOp(u);
  }
  if (value.empty()) return Unsupported(u, "devectorize rewrites it");
  Set(u, std::move(value));
  return absl::OkStatus();
}

std::string KernelWriter::FloatOp(const UOp* u) {
  const DType t = u->src(0)->dtype;
  const std::string type = ValueType(t), a = Of(u->src(0));
  const std::string b = u->num_srcs > 1 ? Of(u->src(1)) : "";
  const char* contract = no_contract_ ? "" : "contract ";
  const auto binary = [&](const char* op) {
    return Emit(op, " ", contract, type, " ", a, ", ", b);
  };
  const auto intrinsic = [&](const char* name) {
    return Call(type, absl::StrCat("llvm.", name, ".", Mangled(t.scalar(), t.lanes())), type, type,
                " ", a);
  };
  switch (u->op) {
    case Op::kAdd:
      return binary("fadd");
    case Op::kSub:
      return binary("fsub");
    case Op::kMul:
      return binary("fmul");
    case Op::kDiv:
      return Emit("fdiv ", type, " ", a, ", ", b);
    case Op::kRecip:
      return Emit("fdiv ", type, " ", Everywhere(t, BitsFromDouble(t.scalar(), 1)), ", ", a);
    case Op::kNeg:
      return Emit("fneg ", type, " ", a);
    case Op::kSqrt:
      return intrinsic("sqrt");
    case Op::kTrunc:
      return intrinsic("trunc");
    case Op::kMulAcc: {
      const std::string c = Of(u->src(2));
      if (!no_contract_ && target_.fast_fma) {
        return Call(type, absl::StrCat("llvm.fma.", Mangled(t.scalar(), t.lanes())),
                    absl::StrCat(type, ", ", type, ", ", type), type, " ", a, ", ", type, " ", b,
                    ", ", type, " ", c);
      }
      const std::string product = binary("fmul");
      return Emit("fadd ", contract, type, " ", product, ", ", c);
    }
    case Op::kMax:
    case Op::kMin: {
      const bool max = u->op == Op::kMax;
      const std::string less = Emit("fcmp olt ", type, " ", max ? a : b, ", ", max ? b : a);
      const std::string mask = ValueType(Scalar::kBool, t.lanes());
      const std::string best =
          Emit("select ", mask, " ", less, ", ", type, " ", b, ", ", type, " ", a);
      if (no_nan_) return best;
      const std::string is_nan = Emit("fcmp uno ", type, " ", b, ", ", b);  // NaN wins
      return Emit("select ", mask, " ", is_nan, ", ", type, " ", b, ", ", type, " ", best);
    }
    case Op::kCmpLt:
      return Emit("fcmp olt ", type, " ", a, ", ", b);
    case Op::kCmpNe:
      return Emit("fcmp une ", type, " ", a, ", ", b);
    default:
      return "";
  }
}

std::string KernelWriter::Wrapping(const char* name, const UOp* u) {
  const DType t = u->dtype;
  if (!IsSigned(t.scalar())) return name;
  using Wide = __int128;
  const analysis::Interval a = bounds_.Of(u->src(0)), b = bounds_.Of(u->src(1));
  Wide lo = 0, hi = 0;
  if (u->op == Op::kAdd) {
    lo = Wide{a.lo} + b.lo;
    hi = Wide{a.hi} + b.hi;
  } else if (u->op == Op::kSub) {
    lo = Wide{a.lo} - b.hi;
    hi = Wide{a.hi} - b.lo;
  } else {
    const Wide p[] = {Wide{a.lo} * b.lo, Wide{a.lo} * b.hi, Wide{a.hi} * b.lo, Wide{a.hi} * b.hi};
    lo = std::min(std::min(p[0], p[1]), std::min(p[2], p[3]));
    hi = std::max(std::max(p[0], p[1]), std::max(p[2], p[3]));
  }
  const bool fits = lo >= MinValue(t.scalar()) && hi <= MaxValue(t.scalar());
  return fits ? absl::StrCat(name, " nsw") : name;
}

std::string KernelWriter::Divide(const UOp* u) {
  const DType t = u->dtype;
  const std::string type = ValueType(t), a = Of(u->src(0)), b = Of(u->src(1));
  const bool remainder = u->op == Op::kCMod || u->op == Op::kFloorMod;
  const bool positive =
      IsUnsigned(t.scalar()) || (bounds_.Min(u->src(0)) >= 0 && bounds_.Min(u->src(1)) >= 0);
  if (positive) return Emit(remainder ? "urem " : "udiv ", type, " ", a, ", ", b);
  if (u->op == Op::kCDiv || u->op == Op::kCMod) {
    return Emit(remainder ? "srem " : "sdiv ", type, " ", a, ", ", b);
  }
  // The quotient is one less, and the remainder gets the divisor added, where it is not 0 and has
  // another sign than the divisor.
  const std::string zero = Everywhere(t, 0), mask = ValueType(Scalar::kBool, t.lanes());
  const std::string rest = Emit("srem ", type, " ", a, ", ", b);
  const std::string some = Emit("icmp ne ", type, " ", rest, ", ", zero);
  const std::string signs = Emit("xor ", type, " ", rest, ", ", b);
  const std::string differ = Emit("icmp slt ", type, " ", signs, ", ", zero);
  const std::string adjust = Emit("and ", mask, " ", some, ", ", differ);
  if (remainder) {
    const std::string other = Emit("add ", type, " ", rest, ", ", b);
    return Emit("select ", mask, " ", adjust, ", ", type, " ", other, ", ", type, " ", rest);
  }
  const std::string quotient = Emit("sdiv ", type, " ", a, ", ", b);
  const std::string borrow = Emit("sext ", mask, " ", adjust, " to ", type);
  return Emit("add ", type, " ", quotient, ", ", borrow);
}

// dot4 by the instruction for it, or as two products of pairs of i16, which are exact: of the bytes
// with even and of those with odd numbers.
std::string KernelWriter::Dot4(const UOp* u) {
  const int lanes = u->dtype.lanes();
  // The instructions' vectors have 4, 8 or 16 words.
  const int width = lanes <= 4 ? 4 : lanes <= 8 ? 8 : 16;
  if (lanes > width) return "";
  const std::string type = ValueType(Scalar::kI32, width), own = ValueType(u->dtype);
  std::string operands[3];
  for (size_t i = 0; i < 3; ++i) {
    operands[i] = Of(u->src(i));
    if (lanes == width) continue;
    operands[i] = lanes == 1 ? Emit("insertelement ", type, " undef, i32 ", operands[i], ", i32 0")
                             : Emit("shufflevector ", own, " ", operands[i], ", ", own, " undef, ",
                                    Sequence(0, lanes, width));
  }
  const auto& [a, b, sum] = operands;
  std::string value;
  if (target_.byte_dots) {
    value = Call(type, absl::StrCat("llvm.x86.avx512.vpdpbusd.", 32 * width),
                 absl::StrCat(type, ", ", type, ", ", type), type, " ", sum, ", ", type, " ", a,
                 ", ", type, " ", b);
  } else {
    const DType word(Scalar::kI32, width), half(Scalar::kI16, 2 * width);
    const std::string halves = ValueType(half);
    const auto as_halves = [&](const std::string& x) {
      return Emit("bitcast ", type, " ", x, " to ", halves);
    };
    const std::string mask = Everywhere(word, 0x00ff00ff), eight = Everywhere(half, 8);
    const std::string even_a = as_halves(Emit("and ", type, " ", a, ", ", mask));
    const std::string odd_a = Emit("lshr ", halves, " ", as_halves(a), ", ", eight);
    const std::string bytes = as_halves(b);
    const std::string high = Emit("shl ", halves, " ", bytes, ", ", eight);
    const std::string even_b = Emit("ashr ", halves, " ", high, ", ", eight);
    const std::string odd_b = Emit("ashr ", halves, " ", bytes, ", ", eight);
    const char* name = width == 4   ? "llvm.x86.sse2.pmadd.wd"
                       : width == 8 ? "llvm.x86.avx2.pmadd.wd"
                                    : "llvm.x86.avx512.pmaddw.d.512";
    const auto pairs = [&](const std::string& x, const std::string& y) {
      return Call(type, name, absl::StrCat(halves, ", ", halves), halves, " ", x, ", ", halves, " ",
                  y);
    };
    const std::string even = pairs(even_a, even_b), odd = pairs(odd_a, odd_b);
    const std::string both = Emit("add ", type, " ", even, ", ", odd);
    value = Emit("add ", type, " ", both, ", ", sum);
  }
  if (lanes == width) return value;
  return lanes == 1 ? Emit("extractelement ", type, " ", value, ", i32 0")
                    : Emit("shufflevector ", type, " ", value, ", ", type, " undef, ",
                           Sequence(0, lanes, lanes));
}

std::string KernelWriter::IntOp(const UOp* u) {
  const DType t = u->src(0)->dtype;
  const bool is_bool = t.is_bool(), is_unsigned = IsUnsignedOrBool(t.scalar());
  const std::string type = ValueType(t);
  if (u->op == Op::kCDiv || u->op == Op::kCMod || u->op == Op::kFloorDiv ||
      u->op == Op::kFloorMod) {
    return Divide(u);
  }
  const std::string a = Of(u->src(0)), b = u->num_srcs > 1 ? Of(u->src(1)) : "";
  const auto binary = [&](absl::string_view op) { return Emit(op, " ", type, " ", a, ", ", b); };
  const auto choose = [&](const char* than) {
    const std::string mask = ValueType(Scalar::kBool, t.lanes());
    const std::string better = binary(absl::StrCat("icmp ", is_unsigned ? "u" : "s", than));
    return Emit("select ", mask, " ", better, ", ", type, " ", a, ", ", type, " ", b);
  };
  switch (u->op) {
    case Op::kNeg:
      return Emit("sub ", type, " ", Everywhere(t, 0), ", ", a);
    case Op::kAdd:
      return binary(is_bool ? "or" : Wrapping("add", u));
    case Op::kSub:
      return binary(Wrapping("sub", u));
    case Op::kMul:
      return binary(is_bool ? "and" : Wrapping("mul", u));
    case Op::kMulAcc: {
      const std::string product = binary("mul");
      return Emit("add ", type, " ", product, ", ", Of(u->src(2)));
    }
    case Op::kDot4:
      return Dot4(u);
    case Op::kMax:
      return is_bool ? binary("or") : choose("gt");
    case Op::kMin:
      return is_bool ? binary("and") : choose("lt");
    case Op::kAnd:
      return binary("and");
    case Op::kOr:
      return binary("or");
    case Op::kXor:
      return binary("xor");
    case Op::kShl:
      return binary("shl");
    case Op::kShr:
      return binary(is_unsigned ? "lshr" : "ashr");
    case Op::kCmpLt:
      return binary(is_unsigned ? "icmp ult" : "icmp slt");
    case Op::kCmpNe:
      return binary("icmp ne");
    default:
      return "";
  }
}

}  // namespace tg::llvm_ir
