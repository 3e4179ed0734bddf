#include "passes/optimize/cpu_rows.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "passes/optimize/cpu_axes.h"
#include "passes/optimize/lanes.h"

namespace tg {
namespace {

// What a kernel keeps: its elements side by side, or the terms of what they are sums of.
void VectorizeStaged(Tuner& t, const UOp* node) {
  const LaneCosts lanes(t, 0);
  std::vector<size_t> axes = t.Axes(AxisKind::kStage);
  std::erase_if(
      axes, [&](size_t i) { return t.schedule().base[t.schedule().axes[i].base].staged != node; });
  NodeSet sums;
  bool any = false;
  for (const LaneCosts::Reduce& reduce : lanes.reduces()) {
    const auto varies = [&](size_t i) { return lanes.Varies(reduce.node, i); };
    if (std::any_of(axes.begin(), axes.end(), varies)) any |= sums.Insert(reduce.node);
  }
  if (!any) return VectorizeBest(t, AxisKind::kStage, node);
  const size_t best = lanes.Cheapest(axes, &sums);
  if (best != kNoAxis) t.Try("vectorize", best, lanes.Along(best));
}

// A few results that share a reduce (the window of a pooling that its gradient goes to), which are
// neighbours, in one piece.
void UpcastShort(Tuner& t, LoopSet shared) {
  constexpr int64_t kShort = 4, kMost = 64;
  std::vector<std::string> names;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool is_shared = (shared & LoopBit(t.schedule().axes[i].base)) != 0;
    if (is_shared && !t.IsSymbolic(i) && t.Size(i) <= kShort && !t.HasLanes(i))
      names.push_back(t.schedule().axes[i].name);
  }
  for (const std::string& name : names) {
    const auto axis = static_cast<size_t>(t.schedule().FindAxis(name));
    if (t.schedule().UpcastSize() * t.Size(axis) <= kMost) t.Try("upcast", axis);
  }
}

// How many groups may become one, so that each core has some; `shared` axes become loops.
int64_t SpareGroups(const Tuner& t, LoopSet shared) {
  int64_t groups = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if ((shared & LoopBit(t.schedule().axes[i].base)) == 0) groups *= t.Size(i);
  }
  return std::max<int64_t>(1, groups / (2 * t.target().compute_units));
}

// What is left of a vector's axis, and how many vectors of it a reduce can make side by side for
// each of `rows`.
std::pair<size_t, int64_t> Wider(const Tuner& t, LoopSet shared, size_t axis, int64_t rows) {
  const LaneCosts lanes(t, shared);
  const bool sums = llvm::any_of(lanes.reduces(), [&](const LaneCosts::Reduce& reduce) {
    return lanes.Varies(reduce.node, axis);
  });
  if (!sums) return {kNoAxis, 1};
  const int64_t width = t.Size(axis), most = lanes.MostSums(width) / rows;
  const bool stored = t.schedule().base[t.schedule().axes[axis].base].IsStored();
  return lanes.VectorsBeside(axis, width, stored ? std::min(most, SpareGroups(t, shared)) : most);
}

// Rows whose results are kept inside the kernel, made side by side where they share what is loaded
// for them, as many as leave their reduces' accumulators in registers, of `terms` lanes each.
// Returns how many there are.
int64_t TileRows(Tuner& t, LoopSet shared, int64_t terms) {
  const int64_t most =
      std::min({int64_t{8}, t.target().MaxAccumulators() / terms, SpareGroups(t, shared)});
  // Two vectors of six rows are loaded with less than one of eight.
  constexpr int64_t kBesideTwo = 6;
  const bool widens = most > kBesideTwo && llvm::any_of(t.Axes(AxisKind::kVector), [&](size_t i) {
                        return Wider(t, shared, i, kBesideTwo).second == 2;
                      });
  size_t best = kNoAxis;
  std::pair<size_t, int64_t> best_score = {0, 1};
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool row = (shared & LoopBit(t.schedule().axes[i].base)) == 0;
    int64_t rows = t.TileAlong(i, most, PowerOfTwoDivisor(t.Size(i), most));
    if (widens && t.TileAlong(i, kBesideTwo, GreatestDivisor(t.Size(i), kBesideTwo)) == kBesideTwo)
      rows = kBesideTwo;
    const std::pair<size_t, int64_t> score = {t.ServedAlong(i), rows};
    if (!row || t.IsSymbolic(i) || rows == 1 || score.first == 0) continue;
    if (score > best_score) best = i, best_score = score;
  }
  return best != kNoAxis && t.Upcast(best, best_score.second) ? best_score.second : 1;
}

// More vectors of what reduces make in lanes, where it is made for few rows at a time: an addition
// need not wait for the one before.
void WidenVectors(Tuner& t, LoopSet shared, int64_t rows) {
  std::vector<std::string> names;
  for (size_t i : t.Axes(AxisKind::kVector)) names.push_back(t.schedule().axes[i].name);
  for (const std::string& name : names) {
    const auto axis = static_cast<size_t>(t.schedule().FindAxis(name));
    const auto [rest, vectors] = Wider(t, shared, axis, rows);
    if (vectors > 1) t.Try("upcast", rest, vectors);
  }
}

}  // namespace

void TuneCpuRows(Tuner& t, LoopSet shared) {
  VectorizeResults(t, shared);
  const LaneCosts lanes(t, shared);
  NodeSet seen;
  LoopSet staged = 0;
  for (size_t n = 0; n < t.schedule().base.size(); ++n) {
    const UOp* node = t.schedule().base[n].staged;
    if (!node) continue;
    staged |= LoopBit(n);
    if (seen.Insert(node)) VectorizeStaged(t, node);
  }
  LoopSet vectors = 0;  // base axes that have lanes
  for (size_t i : t.Axes(AxisKind::kVector)) vectors |= LoopBit(t.schedule().axes[i].base);
  std::vector<std::pair<std::string, int64_t>> unrolls;
  int64_t most_terms = 1;  // of reduces whose results are kept
  for (size_t n = t.schedule().base.size(); n-- > 0;) {
    const BaseAxis& base = t.schedule().base[n];
    if (!t.ReduceOf(base) || !seen.Insert(base.reduce) || base.size.is_symbolic()) continue;
    const int64_t terms = PowerOfTwoDivisor(base.max_size, lanes.Widest());
    if ((t.schedule().varies[n] & vectors) != 0 || terms <= 1) continue;
    unrolls.emplace_back(base.name, terms);
    if (t.schedule().varies[n] & staged) most_terms = std::max(most_terms, terms);
  }
  WidenVectors(t, shared, TileRows(t, shared, most_terms));
  // Innermost, as memory is.
  for (const auto& [name, terms] : unrolls) {
    TryNamed(t, "unroll", name, terms);
  }
  UnrollShort(t);
  UpcastShort(t, shared);
  LoopOverRest(t, shared);
  // Inside the loops over rows, so that a row's reduces stay outside of these.
  t.LoopAlong(shared);
}

}  // namespace tg
