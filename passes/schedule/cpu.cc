// The rules for CPUs: one work-item for each group, vectors along an axis of results or of terms, a
// register tile where operands are reused, and loops inside so that there are few groups.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/cpu_axes.h"
#include "passes/schedule/rules.h"
#include "passes/schedule/vector_axes.h"

namespace tg::schedule {
namespace {

// Proposes the schedule, or the same with another axis of groups as the outermost one: the groups
// that are consecutive decide what stays in a core's cache.
void AddInOrder(ScheduleBuilder& t, Proposals& to) {
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  to.Choose(
      [&](Proposals& some) {
        some.Add();
        const ScheduleBuilder::State plain = t.Save();
        for (size_t k = 1; k < globals.size(); ++k) {
          if (t.Swap(globals[0], t.nest().axes[globals[k]].name)) some.Add();
          t.Restore(plain);
        }
      },
      kOrderError);
  to.Add();
}

bool HasReduces(const ScheduleBuilder& t) { return !t.Axes(AxisKind::kReduce).empty(); }

// Vectors of results, with register tiles. `gathers`: along axes along which lanes of terms are
// loaded one by one.
void ProposeResults(ScheduleBuilder& t, Proposals& to, bool gathers) {
  if (t.SharedAlong() || !HasReduces(t)) return;
  const ScheduleBuilder::State plain = t.Save();
  const bool any = to.Choose([&](Proposals& some) {
    const auto propose = [&](size_t axis, bool (*vectorize)(ScheduleBuilder&, size_t)) {
      if (VectorAxes(t).GathersAlong(axis) != gathers || !vectorize(t, axis)) return;
      TileVectors(t);
      UnrollShort(t);
      AddLooped(t, some);
      t.Restore(plain);
    };
    for (size_t axis : t.Axes(AxisKind::kGlobal)) propose(axis, &VectorizePadded);
    for (size_t axis : VectorAxes(t).ByContiguity(t.Axes(AxisKind::kGlobal))) {
      propose(axis, &VectorizeResults);
    }
    for (size_t axis : t.Axes(AxisKind::kGlobal)) propose(axis, &VectorizeAligned);
  });
  if (any) AddInOrder(t, to);
}

// Results that share no loads are still computed some at a time, so that an addition need not wait
// for the one before it, as long as every core gets some of them.
VectorAxes::RegisterTile RowsOfTerms(const ScheduleBuilder& t, const VectorAxes& lanes) {
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  if (globals.empty() || lanes.reduces().size() != 1 || t.IsSymbolic(globals.back())) return {};
  int64_t results = 1;
  for (size_t i : globals) results = SaturatingMul(results, t.Size(i));
  const int64_t side = t.target().tile_side;
  const int64_t rows =
      t.TileAlong(globals.back(), side, PowerOfTwoDivisor(t.Size(globals.back()), side));
  if (rows == 1 || results / rows < t.target().compute_units) return {};
  return {{globals.back(), rows}};
}

// Vectorizes the terms of reduces, after results are upcast into a register tile.
void VectorizeTerms(ScheduleBuilder& t, const VectorAxes::RegisterTile& tile) {
  const VectorAxes lanes(t);
  MakeTile(t, tile);
  for (const UOp* reduce : lanes.reduces()) {
    const size_t last = lanes.LastAxis(reduce);
    // A reduce around another one is left alone: its tile would multiply the number of the inner
    // one's accumulators.
    if (last == kNoAxis || lanes.Along(last) == 1 || lanes.HoldsReduce(last)) continue;
    t.TryBlock<directive::Unroll>(last, lanes.Along(last));
  }
}

// Proposes to make each axis of groups, or a part of it, the innermost loop of a group, so that
// what its steps share stays in a cache. Steps of parts are each at least twice the ones before.
void AddLoopsInCache(ScheduleBuilder& t, Proposals& to) {
  const ScheduleBuilder::State plain = t.Save();
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  if (llvm::any_of(globals, [&](size_t i) { return t.IsSymbolic(i); })) return;
  const int64_t results = t.WorkItems(), enough = EnoughGroups(t);
  for (size_t axis : globals) {
    const std::string name = t.nest().axes[axis].name;
    const int64_t size = t.Size(axis);
    for (int64_t steps = 2, next = 2; steps <= size && results / steps >= enough; ++steps) {
      if (size % steps != 0 || (steps < next && steps != size)) continue;
      next = 2 * steps;
      if (t.Try<directive::Loop>(axis, steps)) {
        // The groups of one block are consecutive.
        if (steps != size && axis != globals[0]) {
          t.Swap(t.Axes(AxisKind::kGlobal).front(), name + ".0");
        }
        to.Add();
      }
      t.Restore(plain);
    }
  }
}

}  // namespace

void ProposeVectors(ScheduleBuilder& t, Proposals& to) {
  if (t.SharedAlong() || HasReduces(t)) return;
  const ScheduleBuilder::State plain = t.Save();
  to.Choose([&](Proposals& some) {
    for (size_t axis : VectorAxes(t).ByContiguity(t.Axes(AxisKind::kGlobal))) {
      if (!VectorizeBlocks(t, axis)) continue;
      AddLooped(t, some);
      t.Restore(plain);
    }
    AddLooped(t, some);
  });
  AddInOrder(t, to);
}

void ProposeVectorsOfResults(ScheduleBuilder& t, Proposals& to) {
  ProposeResults(t, to, /*gathers=*/false);
}

void ProposeGatheringVectors(ScheduleBuilder& t, Proposals& to) {
  ProposeResults(t, to, /*gathers=*/true);
}

void ProposeVectorsOfTerms(ScheduleBuilder& t, Proposals& to) {
  if (t.SharedAlong() || !HasReduces(t)) return;
  const VectorAxes lanes(t);
  // With one reduce, all operands are contiguous along the terms, so that their cache lines spread
  // over all sets and a larger tile is safe.
  std::vector<VectorAxes::RegisterTile> tiles = lanes.TilesOfTerms(
      lanes.reduces().size() < 2 ? t.target().MaxTile() : t.target().MaxAccumulators());
  if (llvm::all_of(tiles, [](const auto& tile) { return tile.empty(); })) {
    tiles = {RowsOfTerms(t, lanes), {}};
  }
  const ScheduleBuilder::State plain = t.Save();
  ScheduleBuilder::State best = plain;
  to.Choose([&](Proposals& some) {
    for (const VectorAxes::RegisterTile& tile : tiles) {
      VectorizeTerms(t, tile);
      const ScheduleBuilder::State tiled = t.Save();
      LoopOverRest(t);
      some.Add();
      if (some.IsBest()) best = tiled;
      t.Restore(plain);
    }
  });
  to.Choose(
      [&](Proposals& some) {
        some.Add();
        t.Restore(best);
        AddLoopsInCache(t, some);
        AddLooped(t, some);
      },
      kOrderError);
  AddInOrder(t, to);
}

}  // namespace tg::schedule
