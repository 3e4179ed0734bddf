// Eliminates reduces that need no loop, one range at a time:
//
//   A value that is invariant over the range: the result is n times the value, or the value itself.
//   A sum over where(low < r && r < high, v, 0): the result is v times the number of such r.
//   A sum of terms that are 0 unless r == i: the result is the term at i if i is within the range.
//   Its loads are gated, which turns a one-hot row into table[i]. The comparison may be the
//   condition of a `where` or a factor, and any op that keeps 0 may lie between it and the sum.
//   An integer sum: loop-invariant factors and terms are hoisted out of it.
#ifndef TG_PASSES_SIMPLIFY_CLOSED_REDUCE_H_
#define TG_PASSES_SIMPLIFY_CLOSED_REDUCE_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// Folds op `reduce` over ranges. To be called before a reduce is lowered to a loop.
const UOp* FoldReduce(const UOp* u, RuleContext& rc);

// Whether a reduce of `value` may fold once it is lowered over separate ranges. A quick check for
// callers that would otherwise have to lower the value a second time.
bool MayFoldReduce(Op op, const UOp* value);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_CLOSED_REDUCE_H_
