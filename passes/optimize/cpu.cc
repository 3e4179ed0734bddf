// The heuristic for OpenCL on a CPU: one work-item a group, vectors along the axis where they cost
// least, a register tile where operands are reused, and loops inside so that groups are few.
#include "passes/optimize/blocks.h"
#include "passes/optimize/cpu_axes.h"
#include "passes/optimize/cpu_rows.h"
#include "passes/optimize/lanes.h"
#include "passes/optimize/packing.h"

namespace tg {
namespace {

// The terms of reduces side by side, and of results as many as leave the sums in registers: what is
// loaded serves several of them.
void TileTerms(Tuner& t) {
  const LaneCosts lanes(t, 0);
  MakeTile(t, lanes.TileOfTerms());
  for (const LaneCosts::Reduce& reduce : lanes.reduces()) {
    const size_t last = lanes.LastAxis(reduce.node);
    // Around another reduce the lanes would be those of both, multiplied.
    if (last == kNoAxis || lanes.Along(last) == 1 || lanes.HoldsReduce(last)) continue;
    t.Try("unroll", last, lanes.Along(last));
  }
}

// All but loops that each store has for itself.
void TuneTogether(Tuner& t) {
  if (t.Axes(AxisKind::kReduce).empty()) {
    VectorizeBest(t);
  } else if (VectorizeResults(t, 0)) {
    UnrollShort(t);
    if (!t.packed().empty()) return LoopOverPacked(t);
  } else {
    TileTerms(t);
    // Whatever is read lies in rows of terms: a cache has room for them in all of its sets.
    if (LoopInCache(t, EnoughGroups(t))) return;
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
