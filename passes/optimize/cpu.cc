// The heuristic for OpenCL on a CPU: one work-item a group, vectors along the axis where they cost
// least, a register tile where operands are reused, and loops inside so that groups are few.
#include "llvm/ADT/STLExtras.h"
#include "passes/optimize/apart.h"
#include "passes/optimize/blocks.h"
#include "passes/optimize/cpu_axes.h"
#include "passes/optimize/cpu_rows.h"
#include "passes/optimize/lanes.h"
#include "passes/optimize/packing.h"

namespace tg {
namespace {

// The terms of reduces side by side, and of results as many as leave the sums in so many words of
// registers: what is loaded serves several of them.
void TileTerms(Tuner& t, int64_t words) {
  const LaneCosts lanes(t, 0);
  MakeTile(t, lanes.TileOfTerms(words));
  for (const LaneCosts::Reduce& reduce : lanes.reduces()) {
    const size_t last = lanes.LastAxis(reduce.node);
    // Around another reduce the lanes would be those of both, multiplied.
    if (last == kNoAxis || lanes.Along(last) == 1 || lanes.HoldsReduce(last)) continue;
    t.Try("unroll", last, lanes.Along(last));
  }
}

// Tries larger tiles for several products in one kernel, with loops of its own for each of them:
// together such tiles leave more sums in registers than there are. False: nothing was done.
bool TileApart(Tuner& t) {
  const LaneCosts lanes(t, 0);
  const int64_t words = t.target().MaxTile();
  if (lanes.TileOfTerms(words) == lanes.TileOfTerms(t.target().MaxAccumulators())) return false;
  FindSums(t, /*share=*/true);
  if (t.schedule().stores < 2 && t.sums().empty()) return false;
  const Tuner::State before = t.Save();
  TileTerms(t, words);
  if (!LoopInCache(t, EnoughGroups(t), Own::kLoop)) LoopOverRest(t);
  DistributeLoops(t, /*worth=*/1);
  FindSumsLoop(t);
  const auto own = [](const ScheduledAxis& axis) { return axis.own_loops; };
  if (llvm::any_of(t.schedule().axes, own) || !t.sums().empty()) return true;
  t.Restore(before);
  return false;
}

// Products of terms: true where loops over their results are chosen too.
bool TuneTerms(Tuner& t) {
  if (TileApart(t)) return true;
  const bool one = LaneCosts(t, 0).reduces().size() < 2;
  // Whatever is read lies in rows of terms: a cache has room for them in all of its sets.
  TileTerms(t, one ? t.target().MaxTile() : t.target().MaxAccumulators());
  return LoopInCache(t, EnoughGroups(t));
}

// All but groups that each store has for itself. Returns what was chosen when loops over results
// still were to be: what is packed has its lanes and tile.
Tuner::State TuneTogether(Tuner& t) {
  Tuner::State before = t.Save();
  if (t.Axes(AxisKind::kReduce).empty()) {
    if (VectorizeBest(t)) return before;
  } else if (VectorizeResults(t, 0)) {
    UnrollShort(t);
    FindSums(t, /*share=*/false);
    if (t.packed().empty()) {
      LoopOverRest(t);
    } else {
      before = t.Save();
      LoopOverPacked(t);
    }
    FindSumsLoop(t);
    return before;
  } else if (TuneTerms(t)) {
    return before;
  }
  LoopOverRest(t);
  return before;
}

// Whether several stores need the same reduce, which groups of their own would each make.
bool SharesReduces(const Tuner& t) {
  const std::vector<NodeSet> bodies = LoopBodies(t);
  return llvm::any_of(LaneCosts(t, 0).reduces(), [&](const LaneCosts::Reduce& reduce) {
    return llvm::count_if(bodies, [&](const NodeSet& b) { return b.Contains(reduce.node); }) > 1;
  });
}

// Several products that are stored, of terms in lanes or of what is packed, and tuned from `before`
// on so that they share groups, get groups of their own instead, as kernels of their own would have
// them; unless what is shared makes them read so much less that it is worth it.
void TuneGroups(Tuner& t, const Tuner::State& before) {
  const bool packed = !t.packed().empty();
  const bool terms = t.Axes(AxisKind::kVector).empty() && !t.Axes(AxisKind::kUnroll).empty();
  if (t.schedule().stores < 2 || (!packed && !terms) || !t.sums().empty()) return;
  if (SharesReduces(t)) return;
  const Tuner::State together = t.Save();
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
  const bool own = !globals.empty() && t.Try("distribute", globals.front());
  if (!own || bytes <= kWorthIt * BytesRead(t)) t.Restore(together);
}

}  // namespace

void TuneForCpu(Tuner& t) {
  if (const LoopSet shared = t.SharedAlong()) {
    TuneCpuRows(t, shared);
    return;
  }
  const Tuner::State before = TuneTogether(t);
  DistributeLoops(t);
  OrderGroups(t);
  TuneGroups(t, before);
}

}  // namespace tg
