// The rewrite LowerReduces: a `reduce` over ranges becomes a loop over an accumulator, a
// `group_reduce` an exchange of partial results through local memory.
#ifndef TG_PASSES_LOWER_LOWER_REDUCES_H_
#define TG_PASSES_LOWER_LOWER_REDUCES_H_

#include "ir/module.h"
#include "passes/target.h"

namespace tg::lower {

// Lowers every `reduce` with ranges and every `group_reduce` of a body without movement ops.
//
// reduce(x, ranges) uses an accumulator in registers, with one element for each combination of the
// unrolled axes along which x varies:
//   z = store(after(acc, outer ranges)[i], identity)   once per iteration of the loops around it
//   s = store(after(acc, z, ranges)[i], op(that, x))   where `that` is the element's old value
//   result = load(after(acc, end(s, ranges))[i])
//
// group_reduce(x, specials) combines x over the work-items that differ only in these local ids; all
// of them get the result. Each work-item stores its part to local memory, several ones as runs of
// Target::mem_width bytes, which take turns with those of its neighbours. Four parts, or eight and
// more, are combined by a reduction tree, one local id after the other, with a barrier after each
// step. Other numbers of parts are few: after one barrier every work-item reads all of them.
void LowerReduces(Body& body, const passes::Target& target);

// The ranges around all stores, which one `end` below the sink closes.
std::vector<const UOp*> LoopsAroundStores(const UOp* sink);

}  // namespace tg::lower

#endif  // TG_PASSES_LOWER_LOWER_REDUCES_H_
