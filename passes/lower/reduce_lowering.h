// Reduces made explicit: horizontal parts, loops over an accumulator, and what the work-items of a
// group do together.
#ifndef TG_PASSES_LOWER_REDUCE_LOWERING_H_
#define TG_PASSES_LOWER_REDUCE_LOWERING_H_

#include <vector>

#include "ir/builder.h"
#include "ir/module.h"
#include "passes/lower/free_leaves.h"

namespace tg {

class ReduceLowering {
 public:
  explicit ReduceLowering(Builder& b) : b_(b) {}

  // `x` combined over `unrolls` (unroll nodes), then over `ranges` by a loop over an accumulator
  // that lives in registers: one element for each combination of the unrolled axes that x varies
  // over.
  //   z = store(after(acc, outer ranges)[i], identity)   once per iteration of the loops around it
  //   s = store(after(acc, z, ranges)[i], op(that, x))
  //   result = load(after(acc, end(s, ranges))[i])
  const UOp* Reduce(Op op, const UOp* x, const std::vector<const UOp*>& unrolls,
                    const std::vector<const UOp*>& ranges);

  // `x` combined over the work-items that differ in `specials`; all of them get the result. Each
  // stores its part to local memory, and after a barrier reads all parts of its own sum. `locals`:
  // every local id of the kernel.
  const UOp* GroupReduce(Op op, const UOp* x, const std::vector<const UOp*>& specials,
                         const std::vector<const UOp*>& locals);

 private:
  // Row-major number of the current lane over these unroll nodes, and how many there are.
  const UOp* LaneNumber(const std::vector<const UOp*>& unrolls, int64_t& count);

  Builder& b_;
  FreeLeaves free_;
};

// Rewrites every `reduce` with ranges and every `group_reduce` left in a lowered body.
void MakeReducesExplicit(Body& body);

}  // namespace tg

#endif  // TG_PASSES_LOWER_REDUCE_LOWERING_H_
