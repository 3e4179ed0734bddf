// Makes `stage` nodes: memory of a kernel that is filled with a value.
#ifndef TG_PASSES_INDICES_MAKE_STAGE_H_
#define TG_PASSES_INDICES_MAKE_STAGE_H_

#include <cstdint>
#include <vector>

#include "ir/builder.h"

namespace tg::indices {

// The axes that a stage is filled along; of the ranges, the outermost first.
struct StageLoops {
  std::vector<const UOp*> ranges, unrolls, specials;
};

struct StageOptions {
  bool is_local = false;      // in local memory; otherwise private to a work-item
  bool interleaved = false;   // the same element of all lanes is contiguous
  int64_t row = 0;            // if positive: the elements of a row, which padding may follow
  const UOp* step = nullptr;  // the range whose iterations take turns at the buffers
  int64_t buffers = 2;        // of `step`
  bool ahead = false;         // each iteration of `step` loads elements of a later one
};

// The memory of `size` elements in which `x` is element number `element`, where `gate` holds (null:
// always), for all values of the axes. x is a scalar.
const UOp* MakeStage(Builder& b, const UOp* x, int64_t size, const UOp* element, const UOp* gate,
                     const StageLoops& axes, const StageOptions& options);

}  // namespace tg::indices

#endif  // TG_PASSES_INDICES_MAKE_STAGE_H_
