#include "passes/devectorize/operand_width.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/loop_sets.h"
#include "passes/devectorize/width.h"

namespace tg::devectorize {
namespace {

// Whether the `count` lanes from position `first` on are consecutive, or all the same one.
template <typename Lanes>
bool IsRunOrOne(const Lanes& lanes, size_t first, size_t count) {
  const int64_t step = lanes[first + 1] - lanes[first];
  if (step != 0 && step != 1) return false;
  for (size_t i = 1; i < count; ++i) {
    if (lanes[first + i] - lanes[first + i - 1] != step) return false;
  }
  return true;
}

// The number of lanes of the widest vectors, at most `widest`, into which a list of lanes can be
// divided without shuffles; 1 if there are none.
template <typename Lanes>
size_t LanesWithoutShuffle(const Lanes& lanes, size_t widest) {
  const size_t n = lanes.size();
  for (size_t width = widest; width > 1; width /= 2) {
    bool fits = n % width == 0;
    for (size_t at = 0; fits && at < n; at += width) fits = IsRunOrOne(lanes, at, width);
    if (fits) return width;
  }
  return 1;
}

// For each node of a body: the number of loops along which it varies.
class LoopDepth {
 public:
  explicit LoopDepth(UOpSpan order) {
    for (const UOp* u : order) {
      analysis::LoopSet loops = 0;
      for (const UOp* s : u->srcs()) loops |= loops_.Get(s);
      if (u->op == Op::kRange) loops |= analysis::LoopBit(num_ranges_++);
      if (u->op == Op::kEnd) {
        for (const UOp* range : u->srcs().subspan(1)) loops &= ~loops_.Get(range);
      }
      loops_[u] = loops;
    }
  }
  int Of(const UOp* u) const { return std::popcount(loops_.Get(u)); }

 private:
  NodeMap<analysis::LoopSet> loops_;
  size_t num_ranges_ = 0;
};

}  // namespace

int OperandWidth(UOpSpan order, const passes::Target& target) {
  constexpr int64_t kMinBytes = 16;  // the narrowest vector registers, as of SSE and NEON
  if (target.alu_width <= kMinBytes) return target.alu_width;
  const auto is_vector = [](const UOp* u) { return u->dtype.is_float() && u->dtype.lanes() > 1; };
  llvm::SmallVector<std::pair<const UOp*, int64_t>, 8> narrower;
  for (const UOp* u : order) {
    if (u->op != Op::kGep || !is_vector(u)) continue;
    const int64_t size = ByteSize(ComputeScalar(target, u->dtype.scalar()));
    const auto lanes = LanesWithoutShuffle(u->list(), static_cast<size_t>(target.alu_width / size));
    const int64_t bytes = static_cast<int64_t>(lanes) * size;
    if (bytes >= kMinBytes && bytes < target.alu_width) narrower.emplace_back(u, bytes);
  }
  if (narrower.empty()) return target.alu_width;
  const LoopDepth depth(order);
  int deepest = 0;
  for (const UOp* u : order) {
    if (is_vector(u) && IsElementwise(u->op)) deepest = std::max(deepest, depth.Of(u));
  }
  int64_t bytes = target.alu_width;
  for (const auto& [gep, fitting] : narrower) {
    if (depth.Of(gep) == deepest) bytes = std::min(bytes, fitting);
  }
  return static_cast<int>(bytes);
}

}  // namespace tg::devectorize
