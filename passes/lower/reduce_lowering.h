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

  // Combines `x` over the lanes of `unrolls` (unroll nodes) and over the loops `ranges`. The loops
  // use an accumulator in registers, with one element for each combination of the unrolled axes
  // along which x varies:
  //   z = store(after(acc, outer ranges)[i], identity)   once per iteration of the loops around it
  //   s = store(after(acc, z, ranges)[i], op(that, x))   where `that` is the element's old value
  //   result = load(after(acc, end(s, ranges))[i])
  // Lanes are combined after the loops if that needs at most `max_accumulators` registers, else in
  // each iteration.
  const UOp* Reduce(Op op, const UOp* x, const std::vector<const UOp*>& unrolls,
                    const std::vector<const UOp*>& ranges);

  // Adds a store at the end of each iteration of `range`, which must be one of the ranges of a
  // later call of Reduce.
  void AddToSteps(const UOp* range, const UOp* store) { in_steps_.emplace_back(range, store); }

  // Combines `x` over the work-items that differ only in the local ids `specials`; all of them get
  // the result. Each work-item stores its part to local memory. Four parts, or eight and more, are
  // combined by a reduction tree, one local id after the other, with a barrier after each step.
  // Other numbers of parts are few: after one barrier every work-item reads all of them. `locals`:
  // all local ids of the kernel.
  const UOp* GroupReduce(Op op, const UOp* x, const std::vector<const UOp*>& specials,
                         const std::vector<const UOp*>& locals);

  // The shared cache, which also covers the nodes created here.
  FreeLeaves& free_leaves() { return free_; }

 private:
  // One reduction tree: combines the parts at place(0), ..., place(n - 1) of `mem`, where n is the
  // size of `special`, into place(0). Only work-items for which `who` holds take part (null: all).
  // `token` orders it after the stores of the parts. Returns the token of the last step.
  const UOp* CombineTree(Op op, DType t, const UOp* mem, const UOp* token, const UOp* special,
                         const UOp* who, llvm::function_ref<const UOp*(const UOp*)> place);

  // Closes the loops over `ranges`, the outermost first, with the stores that AddToSteps added.
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
