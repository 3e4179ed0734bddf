// Writes the values of elementwise ops.
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/kernel_writer.h"
#include "codegen/clike/types.h"
#include "ir/value.h"

namespace tg::clike {
namespace {

char ClassLetter(DType t) {
  if (t.is_bool()) return t.lanes() > 1 ? 'B' : 'b';
  if (t.scalar() == Scalar::kF16) return 'h';
  if (t.scalar() == Scalar::kF32 && t.lanes() > 1) return 'v';
  if (t.scalar() == Scalar::kF64 && t.lanes() >= 8) return 'd';
  if (t.is_float()) return 'f';
  return IsUnsigned(t.scalar()) ? 'u' : 'i';
}

bool IsSplatConst(const UOp* u) {
  if (u->op != Op::kVConst) return false;
  for (int64_t v : u->list()) {
    if (v != u->list()[0]) return false;
  }
  return true;
}

bool IsNarrow(Scalar s) { return BitWidth(s) < 32; }

}  // namespace

void AppendParenthesized(Text& out, std::string_view text, int precedence, int required) {
  if (precedence >= required) {
    out.Add(text);
  } else {
    Append(out, "(", text, ")");
  }
}

std::string Parenthesized(std::string_view text, int precedence, int required) {
  return precedence < required ? Cat("(", text, ")") : std::string(text);
}

int KernelWriter::MaskBits(const UOp* u) const {
  if (u->op == Op::kVConst) return 32;
  return exprs_.Get(u).mask_bits;
}

void KernelWriter::WriteConstant(const UOp* u, Expr& e) {
  const Scalar s = u->dtype.scalar();
  if (u->op == Op::kConst) {
    e.text = Literal(Shown(s), u->word(), /*exact=*/false);
    e.promoted = IsInt(Shown(s)) && IsNarrow(s);
    if (e.text[0] == '-' || e.text[0] == '(') e.precedence = kUnary;
    return;
  }
  // A vector constant. If all lanes are equal, one scalar is enough.
  const bool mask = s == Scalar::kBool;
  const bool splat = IsSplatConst(u);
  const int lanes = u->dtype.lanes();
  std::string list;
  for (int64_t v : u->list()) {
    if (!list.empty()) {
      if (splat) break;
      list += ", ";
    }
    list += mask ? (v ? "-1" : "0") : Literal(Shown(s), v, false);
  }
  e.text = VectorLiteral(mask ? MaskType(32, lanes) : Type(s, lanes), lanes, list, splat);
  e.precedence = kUnary;
  if (mask) e.mask_bits = 32;
}

const Expr& KernelWriter::ExprOf(const UOp* u) {
  if (!IsConst(u) && u->op != Op::kVConst) return exprs_.Get(u);
  Expr& e = exprs_[u];
  if (e.text.empty()) WriteConstant(u, e);
  return e;
}

void KernelWriter::AppendOperand(Text& out, const UOp* u, int precedence, bool exact) {
  const Expr& e = ExprOf(u);
  if (exact && e.promoted) {
    AppendParenthesized(out, OfItsType(u, e), kUnary, precedence);
  } else {
    AppendParenthesized(out, e.text, e.precedence, precedence);
  }
}

std::string KernelWriter::OfItsType(const UOp* u, const Expr& e) const {
  return Cat("(", Type(u->dtype.scalar(), 1), ")", Parenthesized(e.text, e.precedence, kUnary));
}

Text KernelWriter::Operand(const UOp* u, int precedence, bool exact) {
  Text out;
  AppendOperand(out, u, precedence, exact);
  return out;
}

std::string KernelWriter::Mask(const UOp* u, int bits, int precedence) {
  const int lanes = u->dtype.lanes();
  if (u->op == Op::kVConst) {
    std::string list;
    for (int64_t v : u->list()) {
      absl::StrAppend(&list, list.empty() ? "" : ", ", v ? "-1" : "0");
      if (IsSplatConst(u)) break;
    }
    return Parenthesized(VectorLiteral(MaskType(bits, lanes), lanes, list, IsSplatConst(u)), kUnary,
                         precedence);
  }
  if (MaskBits(u) == bits) return Operand(u, precedence).str();
  return ConvertVector(IntOfSize(MaskBits(u), true), IntOfSize(bits, true), lanes,
                       Operand(u, kTernary));
}

void KernelWriter::AppendScalar(Text& out, const UOp* u) {
  if (!u->dtype.is_bool()) {
    AppendOperand(out, u, kTernary, false);
  } else if (IsConst(u)) {
    out.Add(std::string_view(u->word() ? "-1" : "0"));
  } else {
    out.Add('-');
    AppendOperand(out, u, kPostfix, false);
  }
}

const Spelling* KernelWriter::SpellingOf(const UOp* u) {
  const DType t = u->src(u->op == Op::kWhere ? 1 : 0)->dtype;
  const char letter = ClassLetter(t);
  if (letter == 'i' && u->num_srcs == 2) {
    const Spelling* row = language_.spellings->Find(u->op, 'n');
    if (row && bounds_.Min(u->src(0)) >= 0 && bounds_.Min(u->src(1)) >= 0) return row;
  }
  if ((letter == 'i' || letter == 'u') && t.lanes() == 1 && IsNarrow(t.scalar())) {
    if (const Spelling* row = language_.spellings->Find(u->op, 's')) return row;
  }
  const Spelling* row = language_.spellings->Find(u->op, letter);
  return row || !t.is_float() ? row : language_.spellings->Find(u->op, 'f');
}

// Returns whether the result has to be computed in an unsigned type: its exact value may be outside
// the range of the type, and C does not define the result in that type.
bool KernelWriter::Wraps(const UOp* u) {
  if (!u->dtype.is_int()) return false;
  using Wide = __int128;
  auto range = [&](size_t i) { return bounds_.Of(u->src(i)); };
  Wide lo = 0, hi = 0;
  auto product = [](analysis::Interval a, analysis::Interval b, Wide* lo, Wide* hi) {
    const Wide p[] = {Wide{a.lo} * b.lo, Wide{a.lo} * b.hi, Wide{a.hi} * b.lo, Wide{a.hi} * b.hi};
    *lo = std::min(std::min(p[0], p[1]), std::min(p[2], p[3]));
    *hi = std::max(std::max(p[0], p[1]), std::max(p[2], p[3]));
  };
  // A u64 above 2^63 has no interval; arithmetic on unsigned types wraps by definition in C.
  if (u->dtype.scalar() == Scalar::kU64 || u->dtype.scalar() == Scalar::kU32) return false;
  switch (u->op) {
    case Op::kNeg:
      lo = -Wide{range(0).hi};
      hi = -Wide{range(0).lo};
      break;
    case Op::kAdd:
      lo = Wide{range(0).lo} + range(1).lo;
      hi = Wide{range(0).hi} + range(1).hi;
      break;
    case Op::kSub:
      lo = Wide{range(0).lo} - range(1).hi;
      hi = Wide{range(0).hi} - range(1).lo;
      break;
    case Op::kMul:
      product(range(0), range(1), &lo, &hi);
      break;
    case Op::kMulAcc:
      product(range(0), range(1), &lo, &hi);
      lo += range(2).lo;
      hi += range(2).hi;
      break;
    case Op::kShl: {
      const analysis::Interval n = range(1);
      if (range(0).lo < 0 || n.lo < 0 || n.hi > 62) return true;
      hi = Wide{range(0).hi} << n.hi;
      break;
    }
    default:
      TG_UNREACHABLE();  // no other row of operators.def has flag w
  }
  return lo < MinValue(u->dtype.scalar()) || hi > MaxValue(u->dtype.scalar());
}

// Returns text that equals `u` modulo 2^bits. If `cast`, the text has an unsigned type.
std::string KernelWriter::ModularOperand(const UOp* u, int precedence, bool cast) {
  const Scalar s = u->dtype.scalar();
  const OtherTexts& e = exprs_.Get(u).also();
  if (!e.modular.empty()) return Parenthesized(e.modular, e.modular_precedence, precedence);
  if (u->dtype.lanes() > 1) {
    if (u->op == Op::kVConst) {
      // If all lanes are equal and the other operand is a vector, one lane is enough.
      const Scalar to = UnsignedOf(s);
      std::string list;
      for (int64_t v : u->list()) {
        absl::StrAppend(&list, list.empty() ? "" : ", ",
                        Literal(to, WrapInt(to, v), /*exact=*/!cast && IsSplatConst(u)));
        if (IsSplatConst(u)) break;
      }
      if (!cast && IsSplatConst(u)) {
        return Parenthesized(list, list[0] == '(' ? kUnary : kPrimary, precedence);
      }
      return Parenthesized(
          VectorLiteral(ValueType(to, u->dtype.lanes()), u->dtype.lanes(), list, IsSplatConst(u)),
          kUnary, precedence);
    }
    if (IsUnsigned(s)) return Operand(u, precedence).str();
    const Expr& of = ExprOf(u);
    Expr bits;
    Reinterpret(s, UnsignedOf(s), u->dtype.lanes(), of.text, of.precedence, bits);
    return Parenthesized(bits.text, bits.precedence, precedence);
  }
  if (!cast || (IsUnsigned(s) && !IsNarrow(s))) return Operand(u, precedence).str();
  const std::string type = ValueType(BitWidth(s) == 64 ? Scalar::kU64 : Scalar::kU32, 1);
  return Parenthesized(Cat("(", type, ")", Operand(u, kUnary)), kUnary, precedence);
}

void KernelWriter::Modular(const UOp* u, const Spelling& row, Expr& e) {
  const Scalar s = u->dtype.scalar();
  const int lanes = u->dtype.lanes();
  // One unsigned operand makes C compute in the unsigned type, except for the amount of a shift.
  size_t cast = 0;
  while (cast + 1 < u->num_srcs && (IsConst(u->src(cast)) || u->src(cast)->op == Op::kVConst)) {
    ++cast;
  }
  if (u->op == Op::kShl) cast = 0;
  Text modular;
  FillIn(modular, row, [&](int i, int precedence) {
    if (u->op == Op::kShl && i == 1) return AppendOperand(modular, u->src(1), precedence, false);
    // The factors of a product decide its type before the sum is computed. An op on two constants
    // needs at least one vector literal to have a vector type.
    const bool as_unsigned =
        static_cast<size_t>(i) == cast || (u->op == Op::kMulAcc && (lanes > 1 || cast == 2));
    modular.Add(ModularOperand(u->src(static_cast<size_t>(i)), precedence, as_unsigned));
  });
  if (lanes > 1 && IsUnsigned(s)) {
    e.text = std::move(modular);
    e.precedence = row.precedence;
    return;
  }
  if (lanes > 1) {
    Reinterpret(UnsignedOf(s), s, lanes, modular, row.precedence, e);
  } else {
    e.text = Cat("(", ValueType(s, 1), ")", Parenthesized(modular, row.precedence, kUnary));
    e.precedence = kUnary;
  }
  OtherTexts others;
  others.modular = std::move(modular);
  others.modular_precedence = row.precedence;
  e.others = std::make_shared<const OtherTexts>(std::move(others));
}

// Writes a multiply-add with two roundings, or with one if the module allows contraction and the
// target has the instruction.
void KernelWriter::MulAcc(const UOp* u, Expr& e) {
  const std::string_view fma =
      no_contract_ || !target_.fast_fma ? std::string_view() : FmaFunction(u->dtype);
  if (!fma.empty()) {
    e.text = Cat(fma, "(", Operand(u->src(0), kTernary, true), ", ",
                 Operand(u->src(1), kTernary, true), ", ", Operand(u->src(2), kTernary, true), ")");
    e.precedence = kPostfix;
  } else {
    e.text = Cat(Operand(u->src(0), kMultiply), " * ", Operand(u->src(1), kMultiply + 1), " + ",
                 Operand(u->src(2), kAdditive + 1));
    e.precedence = kAdditive;
  }
}

absl::Status KernelWriter::Elementwise(const UOp* u, Expr& e) {
  if (u->op == Op::kMulAcc && u->dtype.is_float()) {
    MulAcc(u, e);
    return absl::OkStatus();
  }
  const Spelling* row = SpellingOf(u);
  const bool is_max = (u->op == Op::kMax || u->op == Op::kMin) && u->dtype.is_float();
  // The compilers of GPUs order -0.0 before 0.0 in theirs.
  if (is_max && no_nan_ && !target_.is_gpu && u->dtype.scalar() != Scalar::kF16)
    row = language_.spellings->Find(u->op, 'i');
  if (!row) return Unsupported(u, "devectorize rewrites it");
  if (SpecialElementwise(u, *row, e)) return absl::OkStatus();
  const DType operand = u->src(u->op == Op::kWhere ? 1 : 0)->dtype;
  const bool narrow =
      IsInt(Shown(operand.scalar())) && IsNarrow(operand.scalar()) && operand.lanes() == 1;
  if (row->has('w') && Wraps(u)) {
    Modular(u, *row, e);
    return absl::OkStatus();
  }

  // The width of the result's mask, or of the mask type that the operands share.
  int bits = 0;
  if (IsMask(u)) {
    bits = operand.is_bool() ? MaskBits(u->src(u->op == Op::kWhere ? 1 : 0))
                             : BitWidth(operand.scalar());
    e.mask_bits = bits;
  }
  // x != true is written as !x.
  if ((u->op == Op::kXor || u->op == Op::kCmpNe) && operand.is_bool()) {
    const UOp* c = u->src(1);
    if ((IsConst(c) && c->word() == 1) || (IsSplatConst(c) && c->list()[0] == 1)) {
      const Text& equal = exprs_.Get(u->src(0)).also().negated;
      if (equal.empty()) {
        e.text.Add(IsMask(u) ? '~' : '!');
        AppendOperand(e.text, u->src(0), kUnary, false);
      } else {
        e.text = equal;
      }
      e.precedence = equal.empty() ? kUnary : kEqual;
      return absl::OkStatus();
    }
  }
  if (Difference(u, e)) return absl::OkStatus();
  if (row->has('d')) DefineOp(u, operand);
  const bool vector = operand.lanes() > 1;
  const bool bits_op = row->precedence >= kBitOr && row->precedence <= kBitAnd;
  auto text = [&](Text& out, int i, int precedence) {
    const UOp* s = u->src(static_cast<size_t>(i));
    // Parenthesizes where compilers warn: nested comparisons of bools, and one bitwise operator
    // inside another. A chain of one operator needs no parentheses.
    const auto is_chain = [&] { return i == 0 && exprs_.Get(s).precedence == row->precedence; };
    if (bits_op && !is_chain()) precedence = std::max<int>(precedence, language_.bit_operand);
    if (s->dtype.is_bool() && row->precedence >= kEqual) {
      precedence = std::max<int>(precedence, kShift);
    }
    if (IsMask(s)) {
      const int width = bits ? bits : BitWidth(operand.scalar());
      out.Add(Mask(s, width, precedence));
      return;
    }
    // A scalar operand of a vector op is broadcast by C, but the left operand of a shift by a
    // vector must be a vector.
    const bool shifted = i == 0 && (u->op == Op::kShl || u->op == Op::kShr);
    if (vector && !shifted && IsSplatConst(s) && !row->has('x') && u->op != Op::kWhere &&
        u->num_srcs > 1 && !IsSplatConst(u->src(i == 0 ? 1 : 0))) {
      const std::string number = Literal(s->dtype.scalar(), s->list()[0], true);
      const bool unary = number[0] == '-' || number[0] == '(';
      AppendParenthesized(out, number, unary ? kUnary : kPrimary, precedence);
      return;
    }
    AppendOperand(out, s, precedence, row->has('x') || vector);
  };
  const Scalar s = u->dtype.scalar();
  FillIn(e.text, *row, [&](int i, int precedence) {
    if (i == Placeholder::kType) {
      e.text.Add(Type(s, u->dtype.lanes()));
    } else if (i == Placeholder::kOne) {
      e.text.Add(Literal(s, BitsFromDouble(s, 1), true));
    } else {
      text(e.text, i, precedence);
    }
  });
  if (outlined_.contains(u) && row->precedence == kPostfix) Outline(u, row->has('d'), e);
  e.precedence = row->precedence;
  if (u->op == Op::kCmpNe && !operand.is_bool()) {
    OtherTexts others;
    text(others.negated, 0, row->precedence);
    others.negated.Add(" == ");
    text(others.negated, 1, row->precedence + 1);
    e.others = std::make_shared<const OtherTexts>(std::move(others));
  }
  e.promoted = narrow && (row->has('p') || row->has('w')) && !u->dtype.is_bool();
  return absl::OkStatus();
}

absl::Status KernelWriter::WriteValue(const UOp* u) {
  Expr& e = exprs_[u];
  absl::Status status;
  switch (u->op) {
    case Op::kGep:
    case Op::kSplat:
    case Op::kVectorize:
    case Op::kCat:
      status = Lanes(u, e);
      break;
    case Op::kCast:
      Cast(u, e);
      break;
    case Op::kBitcast:
      if (u->src(0)->dtype.is_bool() || u->dtype.is_bool()) {
        Cast(u, e);
      } else {
        Bitcast(u, e);
      }
      break;
    case Op::kNoop:
      e = ExprOf(u->src(0));
      break;
    default:
      status = Elementwise(u, e);
  }
  if (status.ok()) Keep(u, e);
  return status;
}

}  // namespace tg::clike
