// Groups the lanes of an access into runs of consecutive elements.
#ifndef TG_PASSES_DEVECTORIZE_ELEMENT_RUNS_H_
#define TG_PASSES_DEVECTORIZE_ELEMENT_RUNS_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/devectorize/affine_builder.h"

namespace tg::devectorize {

// One lane of an access.
struct LaneAccess {
  int lane = 0;
  AffineExpr address;
  const UOp* gate = nullptr;         // null: always
  const UOp* alternative = nullptr;  // of a gated load
};

// Consecutive elements, which one access could move if it were wide enough: under one gate, or with
// a gate for each.
class ElementRun {
 public:
  ElementRun(AffineExpr start, const UOp* gate) : start(std::move(start)), gate(gate) {}

  size_t size() const { return ends_.size(); }
  // The lanes that access element start + i. Of a store, the last of these lanes gives the value.
  std::span<const int> LanesOf(size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {lanes_.data() + begin, ends_[i] - begin};
  }
  // Appends the next element, accessed by `lane`.
  void Add(int lane) {
    lanes_.push_back(lane);
    ends_.push_back(static_cast<uint32_t>(lanes_.size()));
  }
  // Adds `lane` as another lane that accesses the last element.
  void Share(int lane) {
    lanes_.push_back(lane);
    ++ends_.back();
  }
  // Whether lane first + i, and no other, accesses element i, for each i.
  bool IsInOrder(int first) const;

  AffineExpr start;
  const UOp* gate;  // null: always, or `gates`
  // By element, if they have different gates.
  std::vector<const UOp*> gates;

 private:
  llvm::SmallVector<int, 32> lanes_;      // by element
  llvm::SmallVector<uint32_t, 32> ends_;  // by element: end of its lanes in lanes_
};

// Partitions the lanes into maximal runs. Lanes that access one element under the same gate and
// with the same alternative share that element of a run; a lane with another alternative is in
// another run. The order of the runs is deterministic.
std::vector<ElementRun> RunsOf(std::span<const LaneAccess> lanes);
// The same, but consecutive elements may have different gates (ElementRun::gates).
std::vector<ElementRun> RunsUnderMasks(std::span<const LaneAccess> lanes);
// The same for lanes at base + offsets[lane], without gates.
std::vector<ElementRun> RunsOf(const AffineExpr& base, std::span<const int64_t> offsets);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_ELEMENT_RUNS_H_
