// Which lanes of an access move consecutive elements.
#ifndef TG_PASSES_DEVECTORIZE_ELEMENT_RUNS_H_
#define TG_PASSES_DEVECTORIZE_ELEMENT_RUNS_H_

#include <cstdint>
#include <span>
#include <utility>
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

// Consecutive elements that one access moves.
class ElementRun {
 public:
  ElementRun(Linear start, const UOp* gate) : start(std::move(start)), gate(gate) {}

  size_t size() const { return ends_.size(); }
  // Who wants element i (the last one stores).
  std::span<const int> LanesOf(size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {lanes_.data() + begin, ends_[i] - begin};
  }
  // The next element, which this lane wants.
  void Add(int lane) {
    lanes_.push_back(lane);
    ends_.push_back(static_cast<uint32_t>(lanes_.size()));
  }
  // Another lane that wants the last element.
  void Share(int lane) {
    lanes_.push_back(lane);
    ++ends_.back();
  }
  // Whether each element is wanted by one lane, element i by lane first + i.
  bool IsInOrder(int first) const;

  Linear start;
  const UOp* gate;  // null: always

 private:
  llvm::SmallVector<int, 32> lanes_;      // by element
  llvm::SmallVector<uint32_t, 32> ends_;  // of each element's lanes
};

// The runs that the lanes make up: as long as possible, each element once under each gate and
// alternative. In an order that depends on the kernel alone.
std::vector<ElementRun> RunsOf(std::span<const LaneAccess> lanes);
// The same for lanes at base + offsets[lane], without gates.
std::vector<ElementRun> RunsOf(const Linear& base, std::span<const int64_t> offsets);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_ELEMENT_RUNS_H_
