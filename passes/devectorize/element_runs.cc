#include "passes/devectorize/element_runs.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::devectorize {
namespace {

// Orders lanes so that lanes that may share an access are neighbours. Compares nodes by id, never
// by pointer, so that the result is the same whenever the compiler runs.
bool AccessBefore(const LaneAccess& a, const LaneAccess& b, bool under_masks) {
  const uint32_t gate_a = a.gate ? a.gate->id + 1 : 0, gate_b = b.gate ? b.gate->id + 1 : 0;
  if (!under_masks && gate_a != gate_b) return gate_a < gate_b;
  const auto& s = a.address.terms;
  const auto& t = b.address.terms;
  for (size_t i = 0; i < std::min(s.size(), t.size()); ++i) {
    const auto x = std::pair(s[i].node->id, s[i].coef);
    const auto y = std::pair(t[i].node->id, t[i].coef);
    if (x != y) return x < y;
  }
  return std::tuple(s.size(), a.address.constant, gate_a, a.lane) <
         std::tuple(t.size(), b.address.constant, gate_b, b.lane);
}

}  // namespace

bool ElementRun::IsInOrder(int first) const {
  if (lanes_.size() != ends_.size()) return false;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i] != first + static_cast<int>(i)) return false;
  }
  return true;
}

namespace {

std::vector<ElementRun> FindRuns(std::span<const LaneAccess> accesses, bool under_masks) {
  std::vector<const LaneAccess*> lanes;
  lanes.reserve(accesses.size());
  for (const LaneAccess& l : accesses) lanes.push_back(&l);
  const auto before = [&](const LaneAccess* a, const LaneAccess* b) {
    return AccessBefore(*a, *b, under_masks);
  };
  // Most accesses are in order already.
  if (!std::is_sorted(lanes.begin(), lanes.end(), before)) {
    std::sort(lanes.begin(), lanes.end(), before);
  }
  std::vector<ElementRun> runs;
  // Lanes that access an element of a run with another alternative or gate: they form runs in the
  // next round.
  std::vector<const LaneAccess*> rest;
  while (!lanes.empty()) {
    const LaneAccess* last = nullptr;
    for (const LaneAccess* l : lanes) {
      const bool joins =
          last && last->address.terms == l->address.terms && (under_masks || last->gate == l->gate);
      if (joins && l->address.constant == last->address.constant) {
        if (l->alternative == last->alternative && l->gate == last->gate) {
          runs.back().Share(l->lane);
        } else {
          rest.push_back(l);
        }
        continue;
      }
      if (!joins || l->address.constant != last->address.constant + 1) {
        runs.emplace_back(l->address, under_masks ? nullptr : l->gate);
      }
      runs.back().Add(l->lane);
      if (under_masks) runs.back().gates.push_back(l->gate);
      last = l;
    }
    lanes = std::move(rest);
    rest.clear();
  }
  return runs;
}

}  // namespace

std::vector<ElementRun> RunsOf(std::span<const LaneAccess> accesses) {
  return FindRuns(accesses, /*under_masks=*/false);
}

std::vector<ElementRun> RunsUnderMasks(std::span<const LaneAccess> accesses) {
  return FindRuns(accesses, /*under_masks=*/true);
}

std::vector<ElementRun> RunsOf(const AffineExpr& base, std::span<const int64_t> offsets) {
  llvm::SmallVector<int, 64> lanes(offsets.size());
  std::iota(lanes.begin(), lanes.end(), 0);
  const auto offset = [&](size_t i) { return offsets[static_cast<size_t>(lanes[i])]; };
  if (!std::is_sorted(offsets.begin(), offsets.end())) {
    llvm::stable_sort(lanes, [&](int a, int b) {
      return offsets[static_cast<size_t>(a)] < offsets[static_cast<size_t>(b)];
    });
  }
  const auto begins = [&](size_t i) { return i == 0 || offset(i) > offset(i - 1) + 1; };
  size_t num_runs = 0;
  for (size_t i = 0; i < lanes.size(); ++i) num_runs += begins(i);
  std::vector<ElementRun> runs;
  runs.reserve(num_runs);
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (begins(i)) {
      runs.emplace_back(base, nullptr);
      runs.back().start.Advance(offset(i));
    } else if (offset(i) == offset(i - 1)) {
      runs.back().Share(lanes[i]);
      continue;
    }
    runs.back().Add(lanes[i]);
  }
  return runs;
}

}  // namespace tg::devectorize
