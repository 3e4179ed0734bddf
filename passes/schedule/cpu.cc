// The heuristic for OpenCL on a CPU: one work-item for each group, vectors along the axis where
// they cost least, a register tile where operands are reused, and loops inside so that there are
// few groups.
#include "base/arithmetic.h"
#include "passes/schedule/cache_blocking.h"
#include "passes/schedule/cpu_axes.h"
#include "passes/schedule/cpu_column_sums.h"
#include "passes/schedule/cpu_rows.h"
#include "passes/schedule/vectorization_cost.h"

namespace tg::schedule {
namespace {

// Results that share no loads are still computed some at a time, so that an addition need not wait
// for the one before it, as long as every core gets enough of them.
VectorizationCost::RegisterTile RowsOfTerms(const ScheduleBuilder& t,
                                            const VectorizationCost& lanes) {
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  if (globals.empty() || lanes.reduces().size() != 1 || t.IsSymbolic(globals.back())) return {};
  int64_t results = 1;
  for (size_t i : globals) results = SaturatingMul(results, t.Size(i));
  const int64_t side = t.target().tile_side;
  const int64_t rows =
      t.TileAlong(globals.back(), side, PowerOfTwoDivisor(t.Size(globals.back()), side));
  if (rows == 1 || results / rows < EnoughGroups(t)) return {};
  return {{globals.back(), rows}};
}

// Vectorizes the terms of reduces, and upcasts results so that loads are shared, while the
// accumulators fit into `words` of registers.
void TileTerms(ScheduleBuilder& t, int64_t words) {
  const VectorizationCost lanes(t, 0);
  VectorizationCost::RegisterTile tile = lanes.TileOfTerms(words);
  if (tile.empty()) tile = RowsOfTerms(t, lanes);
  MakeTile(t, tile);
  for (const VectorizationCost::Reduce& reduce : lanes.reduces()) {
    const size_t last = lanes.LastAxis(reduce.node);
    // A reduce around another one is left alone: its tile would multiply the number of the inner
    // one's accumulators.
    if (last == kNoAxis || lanes.Along(last) == 1 || lanes.HoldsReduce(last)) continue;
    t.TryBlock<directive::Unroll>(last, lanes.Along(last));
  }
}

// Chooses a schedule in which all stores share the groups.
void ScheduleTogether(ScheduleBuilder& t) {
  if (t.Axes(AxisKind::kReduce).empty()) {
    VectorizeBest(t);
  } else if (VectorizeResults(t, 0)) {
    UnrollShort(t);
  } else {
    const bool one = VectorizationCost(t, 0).reduces().size() < 2;
    // With one reduce, all operands are contiguous along the terms, so that their cache lines
    // spread over all sets and a larger tile is safe.
    TileTerms(t, one ? t.target().MaxTile() : t.target().MaxAccumulators());
    if (LoopInCache(t, EnoughGroups(t))) return;
  }
  LoopOverRest(t);
}

}  // namespace

void ScheduleForCpu(ScheduleBuilder& t) {
  if (const analysis::LoopSet shared = t.SharedAlong()) {
    ScheduleCpuRows(t, shared);
    return;
  }
  if (ScheduleCpuColumnSums(t)) return;
  ScheduleTogether(t);
  OrderGroups(t);
}

}  // namespace tg::schedule
