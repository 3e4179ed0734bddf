// Implements the functions of VectorAxes that choose register tiles.
#include <algorithm>
#include <tuple>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/vector_axes.h"

namespace tg::schedule {

int64_t VectorAxes::MaxAccumulatorVectors(int64_t width) const {
  return std::min<int64_t>(t_.target().fma_accumulators, t_.target().MaxTile() / width);
}

VectorAxes::RegisterTile VectorAxes::TileOfResults(size_t axis, int64_t width) const {
  // If lanes are loaded one by one, a tile of twice as many results shares each load, provided that
  // its accumulators are full vectors.
  const bool gathers = width >= Widest() && GathersAlong(axis);
  const int64_t most_rows = gathers ? directive::Upcast::kMost : t_.target().LatencySums();
  const int64_t most = gathers ? std::min(most_rows, t_.target().MaxAccumulators() / width)
                               : MaxAccumulatorVectors(width);
  if (most <= 1) return {};
  loop_nest::AxisList axes = t_.Axes(AxisKind::kGlobal);
  for (size_t i : t_.Axes(AxisKind::kReduce)) {
    if (HoldsReduce(i)) axes.push_back(i);
  }
  // Only axes along which some load of vectors is invariant remain candidates.
  llvm::erase_if(axes, [&](size_t i) {
    return t_.IsSymbolic(i) || t_.nest().axes[i].base == t_.nest().axes[axis].base ||
           llvm::none_of(t_.accesses(), [&](const analysis::Access& a) {
             return !a.is_store() && t_.Stride(a, i) == 0 && t_.Stride(a, axis) != 0;
           });
  });
  // Prefers the tile with the most accumulators, since an addition waits for the previous one in
  // the same accumulator. Among equal tiles it prefers one vector by several rows, unless that
  // needs more loads than additions.
  RegisterTile best;
  int64_t most_sums = 1, least_loads = 2;
  for (int64_t vectors = 1; vectors <= most; vectors *= 2) {
    RegisterTile tile;
    int64_t rows = 1;
    for (size_t i : axes) {
      const int64_t limit = std::min(most_rows, most / vectors);
      const int64_t some = t_.TileAlong(i, limit, GreatestDivisor(t_.Size(i), limit));
      // Among equally good axes the last one is chosen, since neighbouring results along it read
      // neighbouring elements.
      if (some > 1 && some >= rows) tile = {{i, some}}, rows = some;
    }
    if (vectors > 1) {
      const auto [rest, amount] = VectorsAlong(axis, width, vectors);
      if (amount < vectors) break;
      tile.emplace_back(rest, vectors);
    }
    const int64_t sums = rows * vectors, loads = rows + vectors;
    if (sums > most_sums || (sums == most_sums && least_loads > most_sums && loads < least_loads))
      best = std::move(tile), most_sums = sums, least_loads = loads;
  }
  return best;
}

std::pair<size_t, int64_t> VectorAxes::VectorsAlong(size_t axis, int64_t width,
                                                    int64_t most) const {
  const bool serves = llvm::any_of(t_.accesses(), [&](const analysis::Access& a) {
    return !a.is_store() && t_.Stride(a, axis) == 0;
  });
  if (!serves || GathersAlong(axis)) return {kNoAxis, 1};
  if (t_.nest().axes[axis].kind != AxisKind::kVector) {
    return {axis, PowerOfTwoDivisor(CeilDiv(t_.Size(axis), width), most)};
  }
  for (size_t i = 0; i < t_.nest().axes.size(); ++i) {
    const loop_nest::LoopAxis& rest = t_.nest().axes[i];
    const bool loops = rest.kind == AxisKind::kGlobal || rest.kind == AxisKind::kStage;
    if (!loops || rest.base != t_.nest().axes[axis].base || t_.IsSymbolic(i)) continue;
    return {i, PowerOfTwoDivisor(t_.Size(i), most)};
  }
  return {kNoAxis, 1};
}

std::vector<size_t> VectorAxes::AxesByLoads(bool others_next) const {
  const loop_nest::AxisList globals = t_.Axes(AxisKind::kGlobal);
  NodeSet served;  // by the axes so far
  const auto loads_along = [&](size_t axis, bool all) {
    NodeSet seen;
    size_t loads = 0;
    for (size_t n = 0; n < reduce_of_.size(); ++n) {
      const analysis::Access& a = t_.accesses()[n];
      if (a.is_store() || !reduce_of_[n] || t_.Stride(a, axis) != 0) continue;
      if (all || !served.Contains(a.node)) loads += seen.Insert(a.node);
    }
    return loads;
  };
  std::vector<size_t> axes;
  while (axes.size() < globals.size()) {
    std::tuple<size_t, size_t, size_t> best;  // loads that are not served yet, all loads, axis
    for (size_t i : globals) {
      if (t_.IsSymbolic(i) || llvm::is_contained(axes, i)) continue;
      best = std::max(best, {others_next ? loads_along(i, false) : 0, loads_along(i, true), i});
    }
    const auto [others, loads, axis] = best;
    if (loads == 0) break;
    axes.push_back(axis);
    for (size_t n = 0; n < reduce_of_.size(); ++n) {
      if (t_.Stride(t_.accesses()[n], axis) == 0) served.Insert(t_.accesses()[n].node);
    }
  }
  return axes;
}

VectorAxes::RegisterTile VectorAxes::TileAlong(const std::vector<size_t>& axes,
                                               int64_t words) const {
  const int64_t side = t_.target().tile_side;
  int64_t widest = 1;
  for (const UOp* reduce : reduces_) {
    const size_t last = LastAxis(reduce);
    if (last != kNoAxis) widest = std::max(widest, Along(last));
  }
  if (widest == 1) return {};
  RegisterTile tile;
  // The tile is written out once for each store in the source.
  const auto tiles = static_cast<int64_t>(t_.nest().stores);
  int64_t most = std::min(words / widest, ScheduleBuilder::kMostCopies / tiles);
  for (size_t axis : axes) {
    const int64_t limit = std::min(side, most), size = t_.Size(axis);
    const bool whole = size <= std::min(t_.target().window, most);
    const int64_t divisor = size % limit == 0 ? limit
                            : limit == side   ? PowerOfTwoDivisor(size, limit)
                                              : 1;
    const int64_t rows = whole ? size : t_.TileAlong(axis, limit, divisor);
    if (rows == 1) continue;
    tile.emplace_back(axis, rows);
    most /= rows;
  }
  return tile;
}

std::vector<VectorAxes::RegisterTile> VectorAxes::TilesOfTerms(int64_t words) const {
  return {TileAlong(AxesByLoads(false), words), TileAlong(AxesByLoads(true), words)};
}

}  // namespace tg::schedule
