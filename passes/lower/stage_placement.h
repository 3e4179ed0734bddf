// How one `stage` is placed: in private memory, or in local memory that the work-items of a group
// fill together.
#ifndef TG_PASSES_LOWER_STAGE_PLACEMENT_H_
#define TG_PASSES_LOWER_STAGE_PLACEMENT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/free_leaves.h"
#include "ir/module.h"
#include "passes/analysis/indexing.h"
#include "passes/target.h"

namespace tg::lower {

// The memory of a stage.
struct StagedMemory {
  const UOp* filled = nullptr;  // the memory after all of it is written
  const UOp* start = nullptr;   // where the part of one work-item's lane starts
  int64_t step = 1;             // distance between consecutive elements of that part
  int64_t row = 0;              // if positive: `padding` unused elements follow each row
  int64_t padding = 0;
};

// A `stage` node whose sources are placed already.
struct StageToPlace {
  const UOp *x, *element, *gate;  // gate: null if it always holds
  std::vector<const UOp*> ranges, unrolls, specials;
  int64_t size;         // in elements, for one lane and one work-item
  int64_t row;          // in elements; 0: there are no rows
  int64_t padding = 0;  // unused elements after each row
  bool is_local, interleaved, ahead;
  bool in_matrices;  // `ldmatrix` reads it, which takes eight rows at a time
  const UOp* step;   // the loop that alternates between two buffers; null if there is one buffer
};

class StagePlacement {
 public:
  // What placing needs to know of the kernel as a whole.
  struct Surroundings {
    std::vector<const UOp*> locals;  // all local ids
    std::vector<const UOp*> loops;   // the ranges around all stores
    int64_t fresh_unroll = 0;        // greater than the number of any unrolled axis
  };
  StagePlacement(Body& body, const passes::Target& target, analysis::SimplifyFn simplify,
                 Surroundings around)
      : body_(body),
        b_(*body.context),
        target_(target),
        simplify_(simplify),
        locals_(std::move(around.locals)),
        loops_(std::move(around.loops)),
        fresh_unroll_(around.fresh_unroll) {}

  StagedMemory Place(StageToPlace stage);
  // The address of the stage's element number `element`.
  const UOp* Address(const StagedMemory& memory, const UOp* element, const UOp* gate);

  // The barrier after a copy in local memory has been filled, and the loops around it.
  struct Filled {
    const UOp* barrier;
    std::vector<const UOp*> loops;
  };
  const std::vector<Filled>& filled() const { return filled_; }
  // A store at the end of each iteration of a range.
  struct StepStore {
    const UOp *range, *store;
  };
  const std::vector<StepStore>& step_stores() const { return step_stores_; }

 private:
  // Emits the stores of `stage`, with barriers around them if it is in local memory.
  StagedMemory Fill(const StageToPlace& stage);
  // Orders the loops that fill a private copy by the addresses that they read. If rows of memory
  // become columns of the copy, square blocks are transposed.
  void OrderFill(StageToPlace& stage);
  // Fills a copy in local memory; each work-item copies a part.
  StagedMemory FillTogether(StageToPlace stage);
  // Emits copies that run one step ahead. The elements of the first step are stored before the
  // loop. Each step loads the elements of the next step at its beginning and stores them at its
  // end. `first` and `next` are the elements that a work-item copies in these steps.
  StagedMemory FillAhead(const StageToPlace& stage, const UOp* first, const UOp* next);
  // `x` with all loads of arguments under `gate`.
  const UOp* Gated(const UOp* x, const UOp* gate);
  const UOp* Replaced(const UOp* x, NodeMap<const UOp*>& changed);
  const UOp* FreshUnroll(int64_t size) { return b_.Unroll(fresh_unroll_++, size); }
  const UOp* Barrier(UOpSpan tokens) { return b_.context().Make(Op::kBarrier, kVoid, tokens); }

  Body& body_;
  Builder b_;
  const passes::Target& target_;
  analysis::SimplifyFn simplify_;
  const std::vector<const UOp*> locals_, loops_;
  int64_t fresh_unroll_;
  FreeLeaves free_;
  std::vector<Filled> filled_;
  std::vector<StepStore> step_stores_;
};

}  // namespace tg::lower

#endif  // TG_PASSES_LOWER_STAGE_PLACEMENT_H_
