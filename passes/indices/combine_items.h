// Combines values among work-items of a subgroup.
#ifndef TG_PASSES_INDICES_COMBINE_ITEMS_H_
#define TG_PASSES_INDICES_COMBINE_ITEMS_H_

#include <cstdint>

#include "ir/builder.h"

namespace tg::indices {

// Work-items along a local id that differ in it alone.
struct ItemsAlong {
  const UOp* special;
  int64_t size;       // of them combine, a power of two
  int64_t stride;     // between neighbours, in the subgroup
  const UOp* before;  // the number of the first of them in the subgroup; null: 0
};

// Returns `x`, of which each of the work-items has a part, combined over them. Distances are
// halved, so that what a work-item reads is what its partner in a butterfly has, and all get the
// same bits.
inline const UOp* CombineItems(Builder& b, Op op, const UOp* x, const ItemsAlong& items) {
  for (int64_t distance = items.size / 2; distance > 0; distance /= 2) {
    const UOp* from =
        b.Alu(Op::kFloorMod, {b.Add(items.special, b.Index(distance)), b.Index(items.size)});
    if (items.stride > 1) from = b.Mul(from, b.Index(items.stride));
    if (items.before) from = b.Add(items.before, from);
    const UOp* const sources[] = {x, from};
    Context& ctx = b.context();
    x = b.Alu(op, {x, ctx.Make(Op::kShuffle, x->dtype, sources,
                               ctx.MakeAttr(Op::kShuffle, {items.size * items.stride}))});
  }
  return x;
}

}  // namespace tg::indices

#endif  // TG_PASSES_INDICES_COMBINE_ITEMS_H_
