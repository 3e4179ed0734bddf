// The heuristic for OpenCL on a CPU: one work-item a group, vectors along the axis where they cost
// least, a register tile where operands are reused, and loops inside so that groups are few.
#include "llvm/ADT/STLExtras.h"
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

// Products of terms: true where loops over their results are chosen too.
bool TuneTerms(Tuner& t) {
  // Whatever is read lies in rows of terms: a cache has room for them in all of its sets.
  const auto tune = [&](int64_t words) {
    TileTerms(t, words);
    return LoopInCache(t, EnoughGroups(t));
  };
  if (LaneCosts(t, 0).reduces().size() < 2) return tune(t.target().MaxTile());
  // Several products in one loop take longer with tiles that large (up to 1.6 times, AVX2), unless
  // each store has a loop of its own.
  if (t.schedule().stores > 1) {
    const Tuner::State before = t.Save();
    const auto own = [](const ScheduledAxis& axis) { return axis.own_loops; };
    if (!tune(t.target().MaxTile())) LoopOverRest(t);
    DistributeLoops(t);
    if (llvm::any_of(t.schedule().axes, own)) return true;
    t.Restore(before);
  }
  return tune(t.target().MaxAccumulators());
}

// All but loops that each store has for itself.
void TuneTogether(Tuner& t) {
  if (t.Axes(AxisKind::kReduce).empty()) {
    VectorizeBest(t);
  } else if (VectorizeResults(t, 0)) {
    UnrollShort(t);
    if (!t.packed().empty()) return LoopOverPacked(t);
  } else if (TuneTerms(t)) {
    return;
  }
  LoopOverRest(t);
}

}  // namespace

void TuneForCpu(Tuner& t) {
  if (const LoopSet shared = t.SharedAlong()) {
    TuneCpuRows(t, shared);
    return;
  }
  TuneTogether(t);
  DistributeLoops(t);
  OrderGroups(t);
}

}  // namespace tg
