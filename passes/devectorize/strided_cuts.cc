// Strided accesses, such as to a column of a matrix: lanes whose elements are not consecutive, but
// at a constant distance.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "passes/devectorize/memory_cutter.h"
#include "passes/devectorize/width.h"

namespace tg::devectorize {
namespace {

// The number of accesses for a run of `elements` elements, in powers of two up to `widest`.
int PiecesOf(size_t elements, int widest) {
  const size_t most = static_cast<size_t>(widest);
  return static_cast<int>(elements / most) + std::popcount(elements % most);
}

}  // namespace

std::vector<MemoryCutter::StridedGroup> MemoryCutter::StridedGroups(
    const UOp* access, const std::vector<ElementRun>& runs) {
  // The least number of lanes for which a function that gathers or scatters is worth its call, and
  // the smallest elements that the instructions for this take.
  constexpr int kMinWidth = 8, kMinBytes = 4;
  const DType memory = access->src(0)->dtype;
  const auto lanes = static_cast<size_t>(AccessType(access).lanes());
  const int widest = MemoryLanes(target_, memory.scalar());
  const size_t width = std::min(static_cast<size_t>(widest), std::bit_floor(lanes));
  if (width < kMinWidth || lanes % width != 0 || ByteSize(memory.scalar()) < kMinBytes ||
      memory.space() != AddrSpace::kGlobal) {
    return {};
  }
  int pieces = 0;
  size_t moved = 0;                // lanes in runs, which exclude lanes whose gate is false
  std::vector<int64_t> at(lanes);  // by lane: the element's offset from the common terms
  for (const ElementRun& run : runs) {
    if (run.gate || !run.gates.empty() || run.start.terms != runs[0].start.terms) return {};
    for (size_t i = 0; i < run.size(); ++i) {
      if (run.LanesOf(i).size() != 1) return {};
      at[static_cast<size_t>(run.LanesOf(i)[0])] = run.start.constant + static_cast<int64_t>(i);
    }
    pieces += PiecesOf(run.size(), widest);
    moved += run.size();
  }
  if (moved != lanes || lanes / width >= static_cast<size_t>(pieces)) return {};
  std::vector<StridedGroup> groups;
  for (size_t first = 0; first < lanes; first += width) {
    const int64_t stride = at[first + 1] - at[first];
    if (std::abs(stride) > INT32_MAX / widest) return {};
    for (size_t i = first + 2; i < first + width; ++i) {
      if (at[i] - at[i - 1] != stride) return {};
    }
    StridedGroup group{static_cast<int>(first), static_cast<int>(width), runs[0].start,
                       b_.context().MakeAttr(access->op, {stride == 1 ? 0 : stride})};
    group.start.constant = at[first];
    groups.push_back(std::move(group));
  }
  statistics_.scalar_accesses += static_cast<int64_t>(lanes);
  return groups;
}

}  // namespace tg::devectorize
