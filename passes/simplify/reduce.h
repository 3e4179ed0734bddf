// Reduces whose loops need not run, one range at a time:
//
//   a value that does not depend on the range: n times it, or it itself;
//   a sum over where(low < r && r < high, v, 0): as many v as there are such r;
//   a sum of terms that are 0 unless r == i: the term at i, where i is a position of the range; its
//   loads are gated, which makes table[i] of a one-hot row. The comparison may be the condition of
//   a `where`, a number that is multiplied, and anything between it and the sum that keeps 0;
//   integer sums: factors and terms that do not depend on the range leave it.
#ifndef TG_PASSES_SIMPLIFY_REDUCE_H_
#define TG_PASSES_SIMPLIFY_REDUCE_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// Op `reduce` over ranges. Whoever makes loops of reduces asks this first.
const UOp* FoldReduce(const UOp* u, RuleContext& rc);

// Whether a reduce of `value`, once lowered, may be one that folds over ranges of its own. A quick
// look, for who would have to lower the value again to know.
bool MayFoldReduce(Op op, const UOp* value);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_REDUCE_H_
