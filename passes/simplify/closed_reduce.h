// Eliminates reduces that need no loop, one range at a time:
//
//   A value that is invariant over the range: a sum is n times the value for n iterations; a
//   maximum, minimum, `and` or `or` is the value itself.
//   A sum over where(low < r && r < high, v, 0) with an invariant v: v times the number of such r.
//   A sum of terms that are 0 unless r == i: the term at i if i is within the range, else 0. The
//   term's loads are gated by that condition, which turns a sum over a one-hot row into table[i].
//   The comparison may be the condition of a `where` or a factor, and casts, negations and products
//   may lie between it and the sum.
//   An integer sum: loop-invariant factors and terms are hoisted out of it.
#ifndef TG_PASSES_SIMPLIFY_CLOSED_REDUCE_H_
#define TG_PASSES_SIMPLIFY_CLOSED_REDUCE_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg::simplify {

// A rule for `reduce` over ranges, so for reduces that are not lowered to loops yet. Null if
// nothing applies.
const UOp* FoldReduce(const UOp* u, rewrite::RuleContext& rc);

// Whether a sum of `value` may fold once it is lowered over separate ranges. A quick check that
// looks at the ops of the value only, for callers that would otherwise have to lower the value a
// second time. False for other reduces.
bool MayFoldReduce(Op op, const UOp* value);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_CLOSED_REDUCE_H_
