// Evaluates an expression over constants, for tests that compare decompositions.
#ifndef TG_PASSES_LEGALIZE_EVALUATE_FOR_TEST_H_
#define TG_PASSES_LEGALIZE_EVALUATE_FOR_TEST_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "base/check.h"
#include "ir/interpret/scalar.h"
#include "ir/value.h"
#include "ir/walk.h"

namespace tg::legalize {

// An expression on scalars as a function of some of its nodes, the arguments. An argument may be a
// constant node, whose value must then not occur elsewhere in the expression.
class Expression {
 public:
  Expression(const UOp* root, std::initializer_list<const UOp*> arguments)
      : root_(root), arguments_(arguments) {
    NodeSet seen;
    for (const UOp* u : arguments) seen.Insert(u);
    AppendPostOrder(UOpSpan(&root, 1), seen, order_);
  }

  int64_t operator()(std::initializer_list<int64_t> given) {
    TG_CHECK(given.size() == arguments_.size());
    for (size_t i = 0; i < given.size(); ++i) value_[arguments_[i]] = given.begin()[i];
    for (const UOp* u : order_) {
      const Scalar to = u->dtype.scalar();
      const Scalar from = u->num_srcs ? u->src(0)->dtype.scalar() : to;
      if (IsConst(u)) {
        value_[u] = u->word();
      } else if (u->op == Op::kCast) {
        value_[u] = CastBits(from, to, value_[u->src(0)]);
      } else if (u->op == Op::kBitcast) {
        value_[u] = BitcastBits(from, to, value_[u->src(0)]);
      } else {
        TG_CHECK(interpret::IsAlu(u->op));
        int64_t args[3];
        for (size_t i = 0; i < u->num_srcs; ++i) args[i] = value_[u->src(i)];
        const auto v =
            interpret::EvalAlu(u->op, u->op == Op::kWhere ? to : from, {args, u->num_srcs});
        TG_CHECK(v);
        value_[u] = *v;
      }
    }
    return value_[root_];
  }

 private:
  const UOp* root_;
  std::vector<const UOp*> arguments_;
  std::vector<const UOp*> order_;
  NodeMap<int64_t> value_;
};

}  // namespace tg::legalize

#endif  // TG_PASSES_LEGALIZE_EVALUATE_FOR_TEST_H_
