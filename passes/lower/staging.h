// Staging: values that are computed once and cached in memory of the kernel for all their readers.
#ifndef TG_PASSES_LOWER_STAGING_H_
#define TG_PASSES_LOWER_STAGING_H_

#include <cstdint>
#include <vector>

#include "ir/builder.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/lower/free_leaves.h"
#include "passes/target.h"

namespace tg {

// The memory of a staged value.
struct StagedMemory {
  const UOp* filled = nullptr;  // the memory after all of it is written
  const UOp* start = nullptr;   // start of the part that a lane of a work-item accesses
  int64_t step = 1;             // distance between consecutive elements of that part
};

class Staging {
 public:
  Staging(Builder& b, const LoopNest& schedule, const Target& target)
      : b_(b), nest_(schedule), target_(target) {}

  // The axes of the buffer while the value is computed: lanes, loops and work-items.
  struct Axes {
    std::vector<const UOp*> unrolls, ranges, specials;
    bool is_local = false;  // also without `specials`
    // The loop whose steps take turns at two buffers; null: there is one buffer.
    const UOp* alternates = nullptr;
  };

  // Stages `x`, the value of node `staged`, in each iteration of the loops around `axes` that it
  // varies over. The buffer has `size` elements for each lane of other unrolled axes that x varies
  // over. x is element number `element`, stored under `gate` (null: always).
  //   s = store(after(mem, outer ranges)[element], x)
  //   filled = after(mem, end(s, ranges))
  // A value that is loaded from rows of memory, with a stride between the lanes, is stored by
  // `copy_transposed`. Without `specials` the memory is private to the work-item, in registers if
  // addresses allow; with them it is local memory that the work-items fill cooperatively, with
  // barriers before and after.
  // `locals`: every local id of the kernel.
  StagedMemory Fill(const UOp* staged, const UOp* x, int64_t size, const UOp* element,
                    const UOp* gate, const Axes& axes, const std::vector<const UOp*>& locals);

  // Element number `element` of the staged value; 0 where `gate` is false.
  const UOp* Read(const StagedMemory& memory, const UOp* element, const UOp* gate);

 private:
  // Whether the lanes of other axes are innermost in the buffer, instead of the elements of each
  // lane. True for lanes of vectors, and for rows whose elements are accessed one at a time.
  bool LanesBeside(const UOp* staged, const std::vector<const UOp*>& lanes) const;
  // The copy that is equivalent to a store of all lanes of `x` at `address`; null if there is none.
  const UOp* CopyTransposed(const UOp* address, const UOp* x);
  // The address of one element, given `pointer` to the start of the memory.
  const UOp* At(const UOp* pointer, const StagedMemory& memory, const UOp* element,
                const UOp* gate);

  Builder& b_;
  const LoopNest& nest_;
  const Target& target_;
  FreeLeaves free_;
};

}  // namespace tg

#endif  // TG_PASSES_LOWER_STAGING_H_
