// Which lanes of an access move consecutive elements.
#ifndef TG_PASSES_DEVECTORIZE_ELEMENT_RUNS_H_
#define TG_PASSES_DEVECTORIZE_ELEMENT_RUNS_H_

#include <span>
#include <vector>

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/devectorize/linear.h"

namespace tg {

// One lane of an access.
struct LaneAccess {
  int lane = 0;
  Linear address;
  const UOp* gate = nullptr;         // null: always
  const UOp* alternative = nullptr;  // of a gated load
};

// Consecutive elements that one access moves; lanes[i]: who wants element i (the last one stores).
struct ElementRun {
  Linear start;
  const UOp* gate = nullptr;
  std::vector<llvm::SmallVector<int, 2>> lanes;
};

// The runs that the lanes make up: as long as possible, each element once under each gate and
// alternative. In an order that depends on the kernel alone.
std::vector<ElementRun> RunsOf(std::span<const LaneAccess> lanes);
// The same for lanes at base + offsets[lane], without gates.
std::vector<ElementRun> RunsOf(const Linear& base, std::span<const int64_t> offsets);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_ELEMENT_RUNS_H_
