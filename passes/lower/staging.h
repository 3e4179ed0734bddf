// Stages values: computes each once and stores it to memory of the kernel, from which all its uses
// load it.
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
  const UOp* start = nullptr;   // where the part of one work-item's lane starts
  int64_t step = 1;             // distance between consecutive elements of that part
};

class Staging {
 public:
  Staging(Builder& b, const LoopNest& nest, const Target& target)
      : b_(b), nest_(nest), target_(target) {}

  // The axes of the buffer while it is filled: lanes, loops and work-items.
  struct Axes {
    std::vector<const UOp*> unrolls, ranges, specials;
    bool is_local = false;  // in local memory, even if `specials` is empty
    // A loop whose iterations alternate between two buffers. Null if there is one buffer.
    const UOp* alternates = nullptr;
  };

  // Stages `x`, the value of node `staged`. The buffer is filled again in each iteration of the
  // loops around `axes` along which x varies. It has `size` elements for each lane of unrolled axes
  // outside `axes` along which x varies. x is element number `element`, and is stored where `gate`
  // holds (null: always).
  //   s = store(after(mem, outer ranges)[element], x)
  //   filled = after(mem, end(s, ranges))
  // If x is a load of rows whose lanes have a stride in memory, `copy_transposed` stores it.
  // Without `specials` and `is_local`, the memory is private to the work-item, and in registers if
  // all addresses are constant. Otherwise it is local memory, which the work-items fill together,
  // with barriers before and after. `locals`: all local ids of the kernel.
  StagedMemory Fill(const UOp* staged, const UOp* x, int64_t size, const UOp* element,
                    const UOp* gate, const Axes& axes, const std::vector<const UOp*>& locals);

  // A load of element number `element` of the staged value. The result is 0 where `gate` is false.
  const UOp* Read(const StagedMemory& memory, const UOp* element, const UOp* gate);

 private:
  // The layout of a private buffer: whether the lanes are innermost, so that the same element of
  // all lanes is contiguous. Otherwise the elements of one lane are contiguous. True for lanes of
  // vectors, and for rows whose elements are accessed one at a time.
  bool LanesBeside(const UOp* staged, const std::vector<const UOp*>& lanes) const;
  // A `copy_transposed` that is equivalent to storing all lanes of `x` at `address`. Null if there
  // is none.
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
