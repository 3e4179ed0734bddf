#include "passes/schedule/cpu_rows.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ir/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/cpu_axes.h"
#include "passes/schedule/packing.h"
#include "passes/schedule/vectorization_cost.h"

namespace tg {
namespace {

// Vectorizes a staged value, or the terms of the reduces that it is made of.
void VectorizeStaged(ScheduleBuilder& t, const UOp* node) {
  const VectorizationCost lanes(t, 0);
  AxisList axes = t.Axes(AxisKind::kStage);
  llvm::erase_if(axes,
                 [&](size_t i) { return t.nest().base[t.nest().axes[i].base].staged != node; });
  NodeSet sums;
  bool any = false;
  for (const VectorizationCost::Reduce& reduce : lanes.reduces()) {
    const auto varies = [&](size_t i) { return lanes.Varies(reduce.node, i); };
    if (std::any_of(axes.begin(), axes.end(), varies)) any |= sums.Insert(reduce.node);
  }
  if (!any) {
    VectorizeBest(t, AxisKind::kStage, node);
    return;
  }
  const size_t best = lanes.Cheapest(axes, &sums);
  if (best != kNoAxis) t.Try<directive::Vectorize>(best, lanes.Along(best));
}

// How many groups may be merged into one such that each core still has two; `shared` axes become
// loops.
int64_t SpareGroups(const ScheduleBuilder& t, LoopSet shared) {
  int64_t groups = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if ((shared & LoopBit(t.nest().axes[i].base)) == 0) groups *= t.Size(i);
  }
  return std::max<int64_t>(1, groups / (2 * t.target().compute_units));
}

// The rest of a vector's axis, and by how much to upcast it for each of `rows`.
std::pair<size_t, int64_t> Wider(const ScheduleBuilder& t, LoopSet shared, size_t axis,
                                 int64_t rows) {
  const VectorizationCost lanes(t, shared);
  const bool sums = llvm::any_of(lanes.reduces(), [&](const VectorizationCost::Reduce& reduce) {
    return lanes.Varies(reduce.node, axis);
  });
  if (!sums) return {kNoAxis, 1};
  const int64_t width = t.Size(axis), most = lanes.MaxAccumulatorVectors(width) / rows;
  const bool is_stored = t.nest().base[t.nest().axes[axis].base].IsStored();
  return lanes.VectorsBeside(axis, width,
                             is_stored ? std::min(most, SpareGroups(t, shared)) : most);
}

// Of staged values that are sums with vectorized terms: the innermost axis along which the sums
// share what a row reads. Returned by name, since directives move axes.
std::vector<std::string> Columns(const ScheduleBuilder& t,
                                 const std::vector<const UOp*>& in_terms) {
  const VectorizationCost lanes(t, 0);
  std::vector<std::string> names;
  for (const UOp* reduce : in_terms) {
    size_t last = kNoAxis;
    for (size_t i : t.Axes(AxisKind::kStage)) {
      if (!t.IsSymbolic(i) && !t.HasLanes(i) && lanes.Varies(reduce, i)) last = i;
    }
    if (last == kNoAxis) continue;
    const std::string& name = t.nest().axes[last].name;
    const bool shares = llvm::any_of(
        t.accesses(), [&](const Access& a) { return !a.is_store() && t.Stride(a, last) == 0; });
    if (shares && !llvm::is_contained(names, name)) names.push_back(name);
  }
  return names;
}

// Staged sums with vectorized terms: the lanes of the terms, and the axes, by name, along which
// such sums share loads (the columns of a tile).
struct Sums {
  int64_t terms = 1;
  std::vector<std::string> columns;
};

// Upcasts rows whose results are staged and which share loads, while the accumulators of their
// reduces fit into registers. Returns how many rows that is.
int64_t TileRows(ScheduleBuilder& t, LoopSet shared, const Sums& sums) {
  const int64_t most =
      std::min({int64_t{8}, t.target().MaxAccumulators() / sums.terms, SpareGroups(t, shared)});
  size_t best = kNoAxis;
  std::pair<size_t, int64_t> best_score = {0, 1};
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool row = (shared & LoopBit(t.nest().axes[i].base)) == 0;
    const int64_t rows = t.TileAlong(i, most, PowerOfTwoDivisor(t.Size(i), most));
    const std::pair<size_t, int64_t> score = {t.ReuseAlong(i), rows};
    if (!row || t.IsSymbolic(i) || rows == 1 || score.first == 0) continue;
    if (score > best_score) best = i, best_score = score;
  }
  if (best == kNoAxis) return 1;
  const int64_t rows = best_score.second;
  if (t.Size(best) % rows != 0 && !t.Try<directive::PadTo>(best, rows)) return 1;
  return t.Try<directive::Upcast>(best, rows) ? rows : 1;
}

// Upcasts the rest of a vectorized axis where a reduce is computed for few rows at a time, so that
// consecutive additions do not depend on each other. Columns of sums likewise.
void WidenVectors(ScheduleBuilder& t, LoopSet shared, const Sums& sums, int64_t rows) {
  std::vector<std::string> names;
  for (size_t i : t.Axes(AxisKind::kVector)) names.push_back(t.nest().axes[i].name);
  for (const std::string& name : names) {
    const auto axis = static_cast<size_t>(t.nest().FindAxis(name));
    const auto [rest, vectors] = Wider(t, shared, axis, rows);
    if (vectors > 1) t.Try<directive::Upcast>(rest, vectors);
  }
  const int64_t most = std::min(VectorizationCost::kTermRows * VectorizationCost::kTermRows,
                                t.target().MaxTile() / sums.terms) /
                       rows;
  for (const std::string& name : sums.columns) {
    const auto axis = static_cast<size_t>(t.nest().FindAxis(name));
    const int64_t columns = GreatestDivisor(t.Size(axis), most);
    if (columns > 1) t.Try<directive::Upcast>(axis, columns);
  }
}

// The unroll amount of a reduce with vectorized terms that is computed for one row at a time: some
// vectors, so that consecutive additions do not depend on each other.
int64_t AcrossLatency(const ScheduleBuilder& t, const std::string& axis, int64_t lanes) {
  constexpr int64_t kVectors = 4, kMaxUnrolled = 32;
  const auto i = static_cast<size_t>(t.nest().FindAxis(axis));
  return PowerOfTwoDivisor(t.Size(i), std::min(kVectors * lanes, kMaxUnrolled));
}

// Keeps a staged value in the output, if that may hold one: then lines of the output are fetched
// while the value is computed, not all at once when the results are.
void StageInOutput(ScheduleBuilder& t) {
  for (size_t i = t.nest().axes.size(); i-- > 0;) {
    const bool staged = t.nest().base[t.nest().axes[i].base].staged != nullptr;
    if (staged && t.StageInOutput(i)) return;
  }
}

}  // namespace

void ScheduleCpuRows(ScheduleBuilder& t, LoopSet shared) {
  VectorizeResults(t, shared);
  const VectorizationCost lanes(t, shared);
  NodeSet seen;
  LoopSet staged = 0;
  for (size_t n = 0; n < t.nest().base.size(); ++n) {
    const UOp* node = t.nest().base[n].staged;
    if (!node) continue;
    staged |= LoopBit(n);
    if (seen.Insert(node)) VectorizeStaged(t, node);
  }
  LoopSet vectors = 0;  // base axes that are vectorized
  for (size_t i : t.Axes(AxisKind::kVector)) vectors |= LoopBit(t.nest().axes[i].base);
  std::vector<std::pair<std::string, int64_t>> unrolls;
  Sums sums;
  std::vector<const UOp*> in_terms;  // reduces whose results are staged
  for (size_t n = t.nest().base.size(); n-- > 0;) {
    const BaseAxis& base = t.nest().base[n];
    if (!t.ReduceOf(base) || !seen.Insert(base.reduce) || base.size.is_symbolic()) continue;
    const int64_t terms = PowerOfTwoDivisor(base.max_size, lanes.Widest());
    if ((t.nest().varies[n] & vectors) != 0 || terms <= 1) continue;
    unrolls.emplace_back(base.name, terms);
    if ((t.nest().varies[n] & staged) == 0) continue;
    sums.terms = std::max(sums.terms, terms);
    in_terms.push_back(base.reduce);
  }
  sums.columns = Columns(t, in_terms);
  const int64_t rows = TileRows(t, shared, sums);
  WidenVectors(t, shared, sums, rows);
  // The innermost axis is unrolled: it is the contiguous one.
  for (const auto& [name, terms] : unrolls) {
    TryNamed<directive::Unroll>(t, name, rows > 1 ? terms : AcrossLatency(t, name, terms));
  }
  UnrollShort(t);
  if (!LoopOverStaged(t, shared)) LoopOverRest(t, shared);
  // The loops over a row go inside the loops over rows, so that the row's reduces are invariant in
  // them.
  t.LoopAlong(shared);
  if (rows == 1) StageInOutput(t);
}

}  // namespace tg
