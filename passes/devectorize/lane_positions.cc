#include "passes/devectorize/lane_positions.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::devectorize {
namespace {

// Whether a lane at `b` may follow one at `a` without a shuffle. Has no branches, because it is
// evaluated for many lanes.
template <typename T>
bool AreAdjacent(T a, T b) {
  return (a == kAnywhere) | (b == kAnywhere) | (b == a) | (b == a + 1);
}

// For `n` lanes; place(i) is the place of lane i.
template <typename F>
int ShufflesOf(size_t n, int width, F&& place) {
  int shuffles = 0;
  for (size_t first = 0; first < n; first += static_cast<size_t>(width)) {
    const size_t end = std::min(n, first + static_cast<size_t>(width));
    for (size_t i = first + 1; i < end; ++i) shuffles += !AreAdjacent(place(i - 1), place(i));
  }
  return shuffles;
}

// Whether the places of the lanes of `u` follow from those of its sources.
bool IsOfSources(const UOp* u) {
  return IsElementwise(u->op) || u->op == Op::kVectorize || u->op == Op::kCat || u->op == Op::kGep;
}

}  // namespace

Positions LanePositions::Of(const UOp* u) {
  llvm::SmallVector<const UOp*, 16> stack = {u};
  while (!stack.empty()) {
    const UOp* v = stack.back();
    const size_t before = stack.size();
    if (!start_.Get(v) && IsOfSources(v)) {
      for (const UOp* s : v->srcs()) {
        if (s->dtype.lanes() > 1 && !start_.Get(s)) stack.push_back(s);
      }
    }
    if (stack.size() != before) continue;
    stack.pop_back();
    if (!start_.Get(v)) Find(v);
  }
  return Known(u);
}

int32_t LanePositions::Scalar(const UOp* u) {
  if (IsConst(u)) return kAnywhere;
  // Even numbers, so that no two scalars are adjacent.
  return kScalars + 2 * static_cast<int32_t>(u->id);
}

Positions LanePositions::Known(const UOp* u) const {
  return Positions(places_).subspan(start_.Get(u) - 1, static_cast<size_t>(u->dtype.lanes()));
}

void LanePositions::Find(const UOp* u) {
  const auto n = static_cast<size_t>(u->dtype.lanes());
  const size_t start = places_.size();
  start_[u] = static_cast<uint32_t>(start) + 1;
  places_.resize(start + n, kAnywhere);
  const std::span<int32_t> mine = std::span(places_).subspan(start);
  if (IsConst(u) || u->op == Op::kVConst) return;
  if (u->op == Op::kSplat) {
    std::fill(mine.begin(), mine.end(), Scalar(u->src(0)));
  } else if (u->op == Op::kVectorize || u->op == Op::kCat) {
    auto at = mine.begin();
    for (const UOp* s : u->srcs()) {
      if (s->dtype.lanes() == 1) {
        *at++ = Scalar(s);
      } else {
        at = llvm::copy(Known(s), at);
      }
    }
  } else if (u->op == Op::kGep && u->src(0)->dtype.lanes() > 1) {
    const Positions from = Known(u->src(0));
    const auto lanes = u->list();
    for (size_t l = 0; l < n; ++l) mine[l] = from[static_cast<size_t>(lanes[l])];
  } else if (u->op == Op::kGep) {
    std::fill(mine.begin(), mine.end(), Scalar(u->src(0)));
  } else {
    // Successive lanes of an elementwise op are adjacent where they are in all its sources; those
    // of a load or another op always are.
    llvm::SmallVector<int32_t, 64> gaps(n);  // by lane: 1 if it is not adjacent to the previous one
    if (IsElementwise(u->op)) {
      for (const UOp* s : u->srcs()) {
        const Positions places = Known(s);
        for (size_t l = 1; l < n; ++l) gaps[l] |= !AreAdjacent(places[l - 1], places[l]);
      }
    }
    for (size_t l = 0; l < n; ++l) {
      next_ += gaps[l];
      mine[l] = next_++;
    }
    ++next_;
  }
}

int Shuffles(Positions places, std::span<const int64_t> lanes, int width) {
  return ShufflesOf(lanes.size(), width,
                    [&](size_t i) { return places[static_cast<size_t>(lanes[i])]; });
}
int Shuffles(Positions places, int width) {
  return ShufflesOf(places.size(), width, [&](size_t i) { return places[i]; });
}
int Shuffles(std::span<const int64_t> lanes, int width) {
  return ShufflesOf(lanes.size(), width, [&](size_t i) { return lanes[i]; });
}

}  // namespace tg::devectorize
