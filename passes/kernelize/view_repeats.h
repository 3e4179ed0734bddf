// Views that repeat elements.
#ifndef TG_PASSES_KERNELIZE_VIEW_REPEATS_H_
#define TG_PASSES_KERNELIZE_VIEW_REPEATS_H_

#include "ir/builder.h"

namespace tg::kernelize {

// A `view` that has stride 0 along some axes is the `expand` of a view with size 1 there. That one
// is a reshape, or a permute of one, if it reads all elements of its source once; `from` is the
// shape of the source. So the rules for values before an expand, and for products, hold for views
// too. Returns `view` if it has no such axis, or symbolic entries.
const UOp* WithExpand(Builder& b, const Shape& from, const UOp* view);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_VIEW_REPEATS_H_
