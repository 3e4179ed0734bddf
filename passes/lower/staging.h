// Values that are computed once and kept in memory of the kernel until all who read them have.
#ifndef TG_PASSES_LOWER_STAGING_H_
#define TG_PASSES_LOWER_STAGING_H_

#include <cstdint>
#include <vector>

#include "ir/builder.h"
#include "passes/analysis/schedule.h"
#include "passes/lower/free_leaves.h"
#include "passes/target.h"

namespace tg {

// Where a staged value is kept.
struct StagedMemory {
  const UOp* filled = nullptr;  // the memory once all of it is written
  const UOp* start = nullptr;   // of the part that a lane of a work-item reads and writes
  int64_t step = 1;             // from one of its elements to the next
};

class Staging {
 public:
  Staging(Builder& b, const Schedule& schedule, const Target& target)
      : b_(b), schedule_(schedule), target_(target) {}

  // The axes that the value has room for, as it is made: lanes, loops and work-items.
  struct Axes {
    std::vector<const UOp*> unrolls, ranges, specials;
  };

  // Keeps `x`, the value of node `staged`, for each iteration of the loops around `axes` that it
  // varies over. There is room for `size` elements, in each lane of other unrolled axes that x
  // varies over; `element` is the number of the one that x is, and `gate` says whether there is one
  // (null: always).
  //   s = store(after(mem, outer ranges)[element], x)
  //   filled = after(mem, end(s, ranges))
  // What is loaded from rows of memory, lanes of a vector apart, goes there by `copy_transposed`.
  // Without `specials` the memory is the work-item's own, in registers where addresses allow; with
  // them it is local memory that the work-items fill together, with barriers before and after.
  // `locals`: every local id of the kernel.
  StagedMemory Fill(const UOp* staged, const UOp* x, int64_t size, const UOp* element,
                    const UOp* gate, const Axes& axes, const std::vector<const UOp*>& locals);

  // What was kept as number `element`; 0 where `gate` does not hold.
  const UOp* Read(const StagedMemory& memory, const UOp* element, const UOp* gate);

 private:
  // Whether lanes of other axes keep an element side by side, rather than each its elements: lanes
  // of vectors do, and rows where nobody makes or reads several elements at once.
  bool LanesBeside(const UOp* staged, const std::vector<const UOp*>& lanes) const;
  // The copy that does what a store of `x` there does for all of its lanes; null: there is none.
  const UOp* CopyTransposed(const UOp* address, const UOp* x);
  // Of one element, behind `pointer` to the memory's beginning.
  const UOp* At(const UOp* pointer, const StagedMemory& memory, const UOp* element,
                const UOp* gate);

  Builder& b_;
  const Schedule& schedule_;
  const Target& target_;
  FreeLeaves free_;
};

}  // namespace tg

#endif  // TG_PASSES_LOWER_STAGING_H_
