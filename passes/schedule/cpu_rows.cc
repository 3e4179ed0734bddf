#include "passes/schedule/cpu_rows.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/cpu_axes.h"
#include "passes/schedule/packing.h"
#include "passes/schedule/vectorization_cost.h"

namespace tg::schedule {
namespace {

// Vectorizes a staged value, or the terms of the reduces that it is made of.
void VectorizeStaged(ScheduleBuilder& t, const UOp* node) {
  const VectorizationCost lanes(t, 0);
  loop_nest::AxisList axes = t.Axes(AxisKind::kStage);
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
  if (best != kNoAxis) t.TryBlock<directive::Vectorize>(best, lanes.Along(best));
}

// The number of work-groups that may be merged into one so that each core still has two. Axes in
// `shared` do not count, as they will become loops.
int64_t SpareGroups(const ScheduleBuilder& t, analysis::LoopSet shared) {
  int64_t groups = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if ((shared & analysis::LoopBit(t.nest().axes[i].base)) == 0) groups *= t.Size(i);
  }
  return std::max<int64_t>(1, groups / (2 * t.target().compute_units));
}

// The part of a vectorized axis that is outside of the vector, and the amount by which to upcast it
// when each work-item computes `rows` rows.
std::pair<size_t, int64_t> Wider(const ScheduleBuilder& t, analysis::LoopSet shared, size_t axis,
                                 int64_t rows) {
  const VectorizationCost lanes(t, shared);
  const bool sums = llvm::any_of(lanes.reduces(), [&](const VectorizationCost::Reduce& reduce) {
    return lanes.Varies(reduce.node, axis);
  });
  if (!sums) return {kNoAxis, 1};
  const int64_t width = t.Size(axis), most = lanes.MaxAccumulatorVectors(width) / rows;
  const bool is_stored = t.nest().base[t.nest().axes[axis].base].IsStored();
  return lanes.VectorsAlong(axis, width, is_stored ? std::min(most, SpareGroups(t, shared)) : most);
}

// For each of these staged sums with vectorized terms: the name of the innermost staged axis
// without lanes along which the sum varies, if some load does not vary along it, so that sums share
// it. Each name once; names, since directives change the positions of axes.
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
    const bool shares = llvm::any_of(t.accesses(), [&](const analysis::Access& a) {
      return !a.is_store() && t.Stride(a, last) == 0;
    });
    if (shares && !llvm::is_contained(names, name)) names.push_back(name);
  }
  return names;
}

// Staged sums with vectorized terms: how many lanes the terms have, and the names of the axes along
// which such sums share loads (the columns of a register tile).
struct Sums {
  int64_t terms = 1;
  std::vector<std::string> columns;
};

// Upcasts the axis of rows if the rows stage results and share loads, as long as the accumulators
// of their reduces fit into registers. Returns the number of upcast rows.
int64_t TileRows(ScheduleBuilder& t, analysis::LoopSet shared, const Sums& sums) {
  const int64_t most =
      std::min({RowsTogether(t.target()), t.target().MaxAccumulators() / sums.terms,
                SpareGroups(t, shared)});
  size_t best = kNoAxis;
  std::pair<size_t, int64_t> best_score = {0, 1};
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool row = (shared & analysis::LoopBit(t.nest().axes[i].base)) == 0;
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

// If a reduce is computed for few rows at a time, upcasts the rest of the vectorized axis, so that
// consecutive additions go to different accumulators. Does the same for the columns of staged sums.
void WidenVectors(ScheduleBuilder& t, analysis::LoopSet shared, const Sums& sums, int64_t rows) {
  std::vector<std::string> names;
  for (size_t i : t.Axes(AxisKind::kVector)) names.push_back(t.nest().axes[i].name);
  for (const std::string& name : names) {
    const auto axis = t.nest().AxisNamed(name);
    const auto [rest, vectors] = Wider(t, shared, axis, rows);
    if (vectors > 1) t.Try<directive::Upcast>(rest, vectors);
  }
  const int64_t side = t.target().tile_side;
  const int64_t most = std::min(side * side, t.target().MaxTile() / sums.terms) / rows;
  for (const std::string& name : sums.columns) {
    const auto axis = t.nest().AxisNamed(name);
    const int64_t columns = GreatestDivisor(t.Size(axis), most);
    if (columns > 1) t.Try<directive::Upcast>(axis, columns);
  }
}

// By how much to unroll a reduce with vectorized terms that is computed for one row at a time: by
// several vectors, so that consecutive additions go to different accumulators. The blocks may
// overlap if that repeats few terms.
int64_t AcrossLatency(const ScheduleBuilder& t, const std::string& axis, int64_t lanes) {
  const auto i = t.nest().AxisNamed(axis);
  const int64_t size = t.Size(i);
  const int64_t most = t.target().LatencyCycles() * lanes;
  for (int64_t terms = std::min(most, directive::Unroll::kMost); terms > lanes; terms /= 2) {
    const bool fits = size % terms == 0 || (t.MayOverlap(i) && t.RepeatsFew(size, terms));
    if (size >= terms && fits) return terms;
  }
  return lanes;
}

// Keeps a staged value in the memory of the output if that is legal. The cache lines of the output
// are then fetched while the value is computed, instead of all at once when the results are stored.
void StageInOutput(ScheduleBuilder& t) {
  for (size_t i = t.nest().axes.size(); i-- > 0;) {
    const bool staged = t.nest().base[t.nest().axes[i].base].staged != nullptr;
    if (staged && t.StageInOutput(i)) return;
  }
}

}  // namespace

void ScheduleCpuRows(ScheduleBuilder& t, analysis::LoopSet shared) {
  VectorizeResults(t, shared);
  const VectorizationCost lanes(t, shared);
  NodeSet seen;
  analysis::LoopSet staged = 0;
  for (size_t n = 0; n < t.nest().base.size(); ++n) {
    const UOp* node = t.nest().base[n].staged;
    if (!node) continue;
    staged |= analysis::LoopBit(n);
    if (seen.Insert(node)) VectorizeStaged(t, node);
  }
  analysis::LoopSet vectors = 0;  // base axes that are vectorized
  for (size_t i : t.Axes(AxisKind::kVector)) vectors |= analysis::LoopBit(t.nest().axes[i].base);
  std::vector<std::pair<std::string, int64_t>> unrolls;
  Sums sums;
  std::vector<const UOp*> in_terms;  // reduces whose results are staged
  for (size_t n = t.nest().base.size(); n-- > 0;) {
    const analysis::BaseAxis& base = t.nest().base[n];
    if (!t.ReduceOf(base) || !seen.Insert(base.reduce) || base.size.is_symbolic()) continue;
    const int64_t terms = t.LanesAlong(t.nest().AxisNamed(base.name), lanes.Widest());
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
    t.TryBlock<directive::Unroll>(t.nest().AxisNamed(name),
                                  rows > 1 ? terms : AcrossLatency(t, name, terms));
  }
  UnrollShort(t);
  if (!LoopOverStaged(t, shared)) LoopOverRest(t, shared);
  // The loops along the axes `shared` become the innermost ones, so that the reduces of a row are
  // invariant in them.
  t.LoopAlong(shared);
  if (rows == 1) StageInOutput(t);
}

}  // namespace tg::schedule
