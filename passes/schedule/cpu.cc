// The heuristic for OpenCL on a CPU: one work-item for each group, vectors along the axis where
// they cost least, a register tile where operands are reused, and loops inside so that there are
// few groups.
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/cache_blocking.h"
#include "passes/schedule/cpu_axes.h"
#include "passes/schedule/cpu_rows.h"
#include "passes/schedule/fission.h"
#include "passes/schedule/packing.h"
#include "passes/schedule/vectorization_cost.h"

namespace tg {
namespace {

// Vectorizes the terms of reduces, and upcasts results so that loads are shared, while the
// accumulators fit into `words` of registers.
void TileTerms(ScheduleBuilder& t, int64_t words) {
  const VectorizationCost lanes(t, 0);
  MakeTile(t, lanes.TileOfTerms(words));
  for (const VectorizationCost::Reduce& reduce : lanes.reduces()) {
    const size_t last = lanes.LastAxis(reduce.node);
    // Around another reduce the accumulators would be those of both, multiplied.
    if (last == kNoAxis || lanes.Along(last) == 1 || lanes.HoldsReduce(last)) continue;
    t.Try("unroll", last, lanes.Along(last));
  }
}

// Tries larger tiles for several products in one kernel, with loop fission between them: in one
// loop such tiles need more accumulators than there are registers. Returns false if nothing was
// done.
bool TileWithFission(ScheduleBuilder& t) {
  const VectorizationCost lanes(t, 0);
  const int64_t words = t.target().MaxTile();
  if (lanes.TileOfTerms(words) == lanes.TileOfTerms(t.target().MaxAccumulators())) return false;
  FindStagedSums(t, /*share=*/true);
  if (t.schedule().stores < 2 && t.sums().empty()) return false;
  const ScheduleBuilder::State before = t.Save();
  TileTerms(t, words);
  if (!LoopInCache(t, EnoughGroups(t), Own::kLoop)) LoopOverRest(t);
  SplitLoops(t, /*worth=*/1);
  FindFissionLoop(t);
  const auto own = [](const ScheduledAxis& axis) { return axis.own_loops; };
  if (llvm::any_of(t.schedule().axes, own) || !t.sums().empty()) return true;
  t.Restore(before);
  return false;
}

// Vectorizes the terms of products. Returns true if it also chose loops over their results.
bool ScheduleTerms(ScheduleBuilder& t) {
  if (TileWithFission(t)) return true;
  const bool one = VectorizationCost(t, 0).reduces().size() < 2;
  // All operands are contiguous along the terms, so that they use all sets of a cache.
  TileTerms(t, one ? t.target().MaxTile() : t.target().MaxAccumulators());
  return LoopInCache(t, EnoughGroups(t));
}

// Chooses a schedule in which all stores share the groups. Returns the state before loops over
// results were chosen: what is packed has its lanes and tile.
ScheduleBuilder::State ScheduleTogether(ScheduleBuilder& t) {
  ScheduleBuilder::State before = t.Save();
  if (t.Axes(AxisKind::kReduce).empty()) {
    if (VectorizeBest(t)) return before;
  } else if (VectorizeResults(t, 0)) {
    UnrollShort(t);
    FindStagedSums(t, /*share=*/false);
    if (t.packed().empty()) {
      LoopOverRest(t);
    } else {
      before = t.Save();
      LoopOverPacked(t);
    }
    FindFissionLoop(t);
    return before;
  } else if (ScheduleTerms(t)) {
    return before;
  }
  LoopOverRest(t);
  return before;
}

// Whether several stores need the same reduce, which each slice of the grid would compute.
bool SharesReduces(const ScheduleBuilder& t) {
  const std::vector<NodeSet> bodies = LoopBodies(t);
  return llvm::any_of(
      VectorizationCost(t, 0).reduces(), [&](const VectorizationCost::Reduce& reduce) {
        return llvm::count_if(bodies, [&](const NodeSet& b) { return b.Contains(reduce.node); }) >
               1;
      });
}

// Splits the grid between several stored products, of vectorized terms or with packed operands, as
// separate kernels would have it. `before`: the state before loops were chosen. Keeps the shared
// groups if they read less by a worthwhile amount.
void ScheduleGridSlices(ScheduleBuilder& t, const ScheduleBuilder::State& before) {
  const bool packed = !t.packed().empty();
  const bool terms = t.Axes(AxisKind::kVector).empty() && !t.Axes(AxisKind::kUnroll).empty();
  if (t.schedule().stores < 2 || (!packed && !terms) || !t.sums().empty()) return;
  if (SharesReduces(t)) return;
  const ScheduleBuilder::State together = t.Save();
  const double bytes = BytesRead(t);
  t.Restore(before);
  if (packed) {
    LoopOverPacked(t, Own::kGroups);
  } else {
    TileTerms(t, t.target().MaxTile());
    if (!LoopInCache(t, EnoughGroups(t), Own::kGroups)) LoopOverRest(t);
  }
  OrderGroups(t, Own::kGroups);
  const AxisList globals = t.Axes(AxisKind::kGlobal);
  const bool own = !globals.empty() && t.Try("split_grid", globals.front());
  if (!own || bytes <= kMaxTrafficShare * BytesRead(t)) t.Restore(together);
}

}  // namespace

void ScheduleForCpu(ScheduleBuilder& t) {
  if (const LoopSet shared = t.SharedAlong()) {
    ScheduleCpuRows(t, shared);
    return;
  }
  const ScheduleBuilder::State before = ScheduleTogether(t);
  SplitLoops(t);
  OrderGroups(t);
  ScheduleGridSlices(t, before);
}

}  // namespace tg
