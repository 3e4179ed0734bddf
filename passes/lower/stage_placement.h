// How one `stage` is placed: in private memory, or in local memory that the work-items of a group
// fill together.
#ifndef TG_PASSES_LOWER_STAGE_PLACEMENT_H_
#define TG_PASSES_LOWER_STAGE_PLACEMENT_H_

#include <cstdint>
#include <optional>
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
  int64_t chunk = 0;  // if positive: the chunks of this many elements in a row are rotated (Skewed)
  bool of_warpgroup = false;  // as FactorLayout says
};

// A `stage` node whose sources are placed already.
struct StageToPlace {
  const UOp *x, *element, *gate;  // gate: null if it always holds
  std::vector<const UOp*> ranges, unrolls, specials;
  int64_t size;         // in elements, for one lane and one work-item
  int64_t row;          // in elements; 0: there are no rows
  int64_t padding = 0;  // unused elements after each row
  bool is_local, interleaved, ahead;
  bool in_matrices;   // matrix instructions take it, from several rows at a time
  bool of_warpgroup;  // a warpgroup's instruction reads it (FactorLayout)
  int64_t buffers;    // if there is a `step`
  const UOp* step;    // the loop that takes turns at the buffers; null if there is one buffer
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
  // Asynchronous copies of one stage, some steps ahead of `step`: one batch for each of the first
  // steps, in front of the loop. Each iteration waits for its own batch, passes the barrier, and
  // begins another batch.
  struct Batches {
    const UOp* step;
    std::vector<const UOp*> loops;   // around the loop over steps
    std::vector<const UOp*> begins;  // the commit of each batch in front of the loop
    const UOp *wait, *barrier, *commit;
  };
  const std::vector<Batches>& batches() const { return batches_; }

 private:
  // Bytes that one instruction moves, and `ldmatrix` and warpgroups' instructions read together.
  static constexpr int64_t kChunkBytes = 16;
  // Chunks of different banks. Where the memory begins decides which ones they are.
  static constexpr int64_t kChunks = 8;
  static int64_t ChunkOf(const StageToPlace& stage) {  // in elements
    return kChunkBytes / static_cast<int64_t>(ByteSize(stage.x->dtype.scalar()));
  }
  // In bytes; 0: any.
  static int64_t MemoryAlignment(const StageToPlace& stage) {
    return stage.of_warpgroup ? kChunks * kChunks * kChunkBytes : 0;
  }
  // A copy in rows that begins at element `start`, without the memory.
  StagedMemory InRows(const StageToPlace& stage, const UOp* start) const;
  // Emits the stores of `stage`, with barriers around them if it is in local memory.
  StagedMemory Fill(const StageToPlace& stage);
  // Of the loads in the stage's value the one that takes the most elements; null if there is none.
  const UOp* MainLoad(const StageToPlace& stage);
  // Orders the loops that fill a private copy by the addresses that they read. If rows of memory
  // become columns of the copy, square blocks are transposed.
  void OrderFill(StageToPlace& stage);
  // Fills a copy in local memory; each work-item copies a part.
  StagedMemory FillTogether(StageToPlace stage);
  // Emits copies that run one step ahead. The elements of the first step are stored before the
  // loop. Each step loads the elements of the next step at its beginning and stores them at its
  // end. `first` and `next` are the elements that a work-item copies in these steps.
  StagedMemory FillAhead(const StageToPlace& stage, const UOp* first, const UOp* next);
  // Fills N buffers N - 1 steps ahead by asynchronous copies; `order`: the axes of the copy by
  // descending stride in the source. Nullopt if the target has no such copies, or if the value is
  // no run of elements of memory that an instruction can copy.
  std::optional<StagedMemory> FillByBatches(const StageToPlace& stage,
                                            const std::vector<const UOp*>& order, int64_t row);
  // What one such copy moves, in elements, or nullopt.
  struct AsyncCopy {
    int64_t lanes;
    const UOp *to, *from;  // the number in the stage, and the address
    const UOp* valid;      // null: always; where it does not hold, the elements are zeros
  };
  std::optional<AsyncCopy> FindAsyncCopy(const StageToPlace& stage,
                                         const std::vector<const UOp*>& order, const UOp* number,
                                         int64_t lanes);
  // `element` of a copy that `ldmatrix` reads, with the chunks of each row rotated, so that equal
  // chunks of eight rows are in different banks.
  const UOp* Skewed(const UOp* element, const StagedMemory& memory);
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
  std::vector<Batches> batches_;
};

}  // namespace tg::lower

#endif  // TG_PASSES_LOWER_STAGE_PLACEMENT_H_
