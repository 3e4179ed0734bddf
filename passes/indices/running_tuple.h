// Tuples whose first number is a maximum that the others are relative to, as those of a softmax in
// blocks: what is combined has been multiplied by exp2(-scale * maximum). A block may then be
// computed with the maximum of all blocks so far, and added to what they gave.
#ifndef TG_PASSES_INDICES_RUNNING_TUPLE_H_
#define TG_PASSES_INDICES_RUNNING_TUPLE_H_

#include "ir/uop.h"

namespace tg::indices {

bool IsRelativeToMaximum(const UOp* reduce_tuple);
// Whether `u`, of the combining body of such a tuple, is the factor of a block's numbers: 1, if
// they are relative to the combined maximum.
bool IsFactorOfBlock(const UOp* reduce_tuple, const UOp* u);
// `x` without a selection of `identity` in its place.
const UOp* WithoutIdentity(const UOp* x, const UOp* identity);
// The maximum that all exponentials in a lowered value are relative to; null if there is none, or
// more than one.
const UOp* MaximumIn(const UOp* x);

}  // namespace tg::indices

#endif  // TG_PASSES_INDICES_RUNNING_TUPLE_H_
