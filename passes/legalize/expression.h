// Nodes as expressions: `x * x + 1` instead of calls of a builder. A number combined with a node is
// a constant of the node's type.
#ifndef TG_PASSES_LEGALIZE_EXPRESSION_H_
#define TG_PASSES_LEGALIZE_EXPRESSION_H_

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "ir/builder.h"

namespace tg::legalize {

class Term {
 public:
  Term() = default;
  Term(Builder& b, const UOp* node) : b_(&b), node_(node) {}

  const UOp* node() const { return node_; }
  DType type() const { return node_->dtype; }
  // A constant of this type.
  template <typename T>
  requires std::is_arithmetic_v<T> Term Constant(T v)
  const {
    if constexpr (std::integral<T>) {
      if (!type().is_float()) return {*b_, b_->ConstInt(type(), static_cast<int64_t>(v))};
    }
    return {*b_, b_->Const(type(), static_cast<double>(v))};
  }
  Term To(Scalar s) const { return {*b_, b_->Cast(node_, type().WithScalar(s))}; }
  Term BitsAs(Scalar s) const { return {*b_, b_->Bitcast(node_, type().WithScalar(s))}; }
  Term Alu(Op op, Term y) const { return {*b_, b_->Alu(op, {node_, y.node_})}; }
  Term Alu(Op op) const { return {*b_, b_->Alu(op, {node_})}; }
  // *this * y + z, in one rounding or two.
  Term MulAdd(Term y, Term z) const {
    return {*b_, b_->Alu(Op::kMulAcc, {node_, y.node_, z.node_})};
  }
  // Selects by this term, a condition.
  Term Choose(Term yes, Term no) const { return {*b_, b_->Where(node_, yes.node_, no.node_)}; }
  Term Not() const { return Alu(Op::kXor, Constant(1)); }

 private:
  Builder* b_ = nullptr;
  const UOp* node_ = nullptr;
};

#define TG_TERM_OPERATOR(sign, op)                                   \
  inline Term operator sign(Term x, Term y) { return x.Alu(op, y); } \
  template <typename T>                                              \
  requires std::is_arithmetic_v<T> Term operator sign(Term x, T y) { \
    return x.Alu(op, x.Constant(y));                                 \
  }                                                                  \
  template <typename T>                                              \
  requires std::is_arithmetic_v<T> Term operator sign(T x, Term y) { \
    return y.Constant(x).Alu(op, y);                                 \
  }
TG_TERM_OPERATOR(+, Op::kAdd)
TG_TERM_OPERATOR(-, Op::kSub)
TG_TERM_OPERATOR(*, Op::kMul)
TG_TERM_OPERATOR(&, Op::kAnd)
TG_TERM_OPERATOR(|, Op::kOr)
TG_TERM_OPERATOR(^, Op::kXor)
TG_TERM_OPERATOR(<<, Op::kShl)
TG_TERM_OPERATOR(>>, Op::kShr)
TG_TERM_OPERATOR(<, Op::kCmpLt)
TG_TERM_OPERATOR(!=, Op::kCmpNe)
#undef TG_TERM_OPERATOR

template <typename T>
Term operator>(Term x, T y) {
  return y < x;
}
template <typename T>
Term operator==(Term x, T y) {
  return (x != y).Not();
}

}  // namespace tg::legalize

#endif  // TG_PASSES_LEGALIZE_EXPRESSION_H_
