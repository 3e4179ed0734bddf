// Makes reduces explicit: horizontal reduces, loops over an accumulator, and cooperative reduces of
// the work-items of a group.
#ifndef TG_PASSES_LOWER_REDUCE_LOWERING_H_
#define TG_PASSES_LOWER_REDUCE_LOWERING_H_

#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/module.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/lower/free_leaves.h"

namespace tg {

class ReduceLowering {
 public:
  // `max_accumulators`: limit on the accumulators of a loop whose unrolled terms are combined after
  // the loop instead of in each iteration.
  explicit ReduceLowering(Builder& b, int64_t max_accumulators = 0)
      : b_(b), max_accumulators_(max_accumulators) {}

  // `x` combined over `unrolls` (unroll nodes) and over `ranges`, in the order that suits
  // `max_accumulators`; the latter by a loop over an accumulator that lives in registers: one
  // element for each combination of the unrolled axes that x varies over.
  //   z = store(after(acc, outer ranges)[i], identity)   once per iteration of the loops around it
  //   s = store(after(acc, z, ranges)[i], op(that, x))
  //   result = load(after(acc, end(s, ranges))[i])
  const UOp* Reduce(Op op, const UOp* x, const std::vector<const UOp*>& unrolls,
                    const std::vector<const UOp*>& ranges);

  // Adds a store to each step of `range`, one of the ranges that a later call reduces over, behind
  // what the loops inside it do.
  void AddToSteps(const UOp* range, const UOp* store) { in_steps_.emplace_back(range, store); }

  // `x` combined over the work-items that differ in `specials`; all of them get the result. Each
  // stores its part to local memory. Four parts, or eight and more, are combined by a reduction
  // tree along each of `specials`, with a barrier after each step; two, three and five to seven
  // parts are read by every work-item after one barrier. `locals`: every local id of the kernel.
  const UOp* GroupReduce(Op op, const UOp* x, const std::vector<const UOp*>& specials,
                         const std::vector<const UOp*>& locals);

  // The shared cache, which also covers the nodes created here.
  FreeLeaves& free_leaves() { return free_; }

 private:
  // The parts at place(0 .. n - 1) of `mem` after `token`, where n is the size of `special`,
  // combined into the first by the work-items for which `who` holds (null: all). Returns the token.
  const UOp* CombineTree(Op op, DType t, const UOp* mem, const UOp* token, const UOp* special,
                         const UOp* who, llvm::function_ref<const UOp*(const UOp*)> place);

  // The end of the loops over `ranges`, the outermost first, with what AddToSteps added.
  const UOp* EndAll(const UOp* step, const std::vector<const UOp*>& ranges);

  Builder& b_;
  int64_t max_accumulators_;
  std::vector<std::pair<const UOp*, const UOp*>> in_steps_;  // a range, a store
  FreeLeaves free_;
};

// Lowers every remaining `reduce` with ranges and every `group_reduce` of a lowered body.
void MakeReducesExplicit(Body& body);

}  // namespace tg

#endif  // TG_PASSES_LOWER_REDUCE_LOWERING_H_
