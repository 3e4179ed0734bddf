// Writes sums with negative terms as differences; for floats, only sums of a value and a constant.
//
// Every operation in the source is one of the kernel's operations with the sign turned. Sums whose
// terms are all negative are the exception: x + (-a + -b) is written x - a - b. The first
// difference lies between x and the result, so it overflows only if x or the result does.
#include "codegen/clike/cat.h"
#include "codegen/clike/kernel_writer.h"
#include "ir/value.h"

namespace tg::clike {

namespace {

// Returns the value that every lane of a constant has; 0 for other nodes.
double NumberOf(const UOp* u) {
  if (IsConst(u)) return DoubleFromBits(u->dtype.scalar(), u->word());
  if (u->op != Op::kVConst) return 0;
  for (int64_t v : u->list()) {
    if (v != u->list()[0]) return 0;
  }
  return DoubleFromBits(u->dtype.scalar(), u->list()[0]);
}

std::shared_ptr<const OtherTexts> Subtracted(std::string_view minus) {
  OtherTexts texts;
  texts.minus = minus;
  return std::make_shared<const OtherTexts>(std::move(texts));
}

}  // namespace

bool KernelWriter::Difference(const UOp* u, Expr& e) {
  const Scalar s = u->dtype.scalar();
  if (u->op == Op::kAdd && (s == Scalar::kF32 || s == Scalar::kF64)) {
    const double number = NumberOf(u->src(1));
    if (!(number < 0) || IsConst(u->src(0)) || u->src(0)->op == Op::kVConst) return false;
    e.text = Cat(Operand(u->src(0), kAdditive, u->dtype.lanes() > 1), " - ",
                 Literal(s, BitsFromDouble(s, -number), true));
    e.precedence = kAdditive;
    return true;
  }
  if ((u->op != Op::kAdd && u->op != Op::kMul) || !u->dtype.is_int() || u->dtype.lanes() > 1 ||
      !IsSigned(s)) {
    return false;
  }
  const UOp *a = u->src(0), *b = u->src(1);
  const bool negative = IsConst(b) && b->word() < 0 && b->word() != MinValue(s);
  const Text& minus_a = exprs_.Get(a).also().minus;
  const Text& minus_b = exprs_.Get(b).also().minus;
  const bool has_minus = u->op == Op::kAdd && !(minus_a.empty() && minus_b.empty());
  if ((!negative && !has_minus) || bounds_.Of(u).lo <= MinValue(s)) return false;
  e.promoted = BitWidth(s) < 32;
  if (u->op == Op::kMul) {
    if (b->word() == -1) {
      e.text = Cat("-", Operand(a, kPostfix));
      e.precedence = kUnary;
      e.others = Subtracted(Cat(" - ", Operand(a, kMultiply)));
    } else {
      e.text = Cat(Operand(a, kMultiply), " * ", Operand(b, kMultiply + 1));
      e.precedence = kMultiply;
      e.others =
          Subtracted(Cat(" - ", Operand(a, kMultiply), " * ", Literal(s, -b->word(), false)));
    }
    return true;
  }
  const Text from_b = negative ? Text(Cat(" - ", Literal(s, -b->word(), false))) : minus_b;
  // Writing the constant first avoids a multiplication by -1.
  if (from_b.empty() || (IsConst(b) && !minus_a.empty())) {
    e.text = Cat(Operand(b, kAdditive), minus_a);
  } else {
    e.text = Cat(Operand(a, kAdditive), from_b);
  }
  e.precedence = kAdditive;
  if (!minus_a.empty() && !from_b.empty() && bounds_.Of(a).hi <= 0 && bounds_.Of(b).hi <= 0) {
    e.others = Subtracted(Cat(minus_a, from_b));
  }
  return true;
}

}  // namespace tg::clike
