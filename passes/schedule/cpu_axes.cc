#include "passes/schedule/cpu_axes.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/vectorization_cost.h"

namespace tg::schedule {
namespace {

// Rates vectors along this axis by their memory accesses, in instructions: an access and the
// multiply-adds in its time. Contiguous ones count for it, strided ones against it, and strided
// stores twice, since their lines are also read. For kernels without reduces.
double Score(const ScheduleBuilder& t, size_t axis) {
  const double load = 1 + t.target().load_weight, store = 1 + t.target().store_weight;
  double score = 0;
  const bool staged = t.nest().axes[axis].kind == AxisKind::kStage;
  if (staged) score += t.IsInnermost(axis) ? store : -2 * store;  // of the staged value
  for (const analysis::Access& a : t.accesses()) {
    const auto stride = t.Stride(a, axis);
    if (staged && a.is_store()) continue;  // a staged value's axis is none of what is stored
    if (stride == 1 || (stride != 0 && t.IsInterleaved(a, axis)))
      score += a.is_store() ? store : load;
    else if (stride != 0)
      score -= a.is_store() ? 2 * store : load;
    else if (a.is_store())
      score -= 2 * store;
  }
  return score;
}

// The steps of the blocks in which an axis overlaps if vectors of `lanes` do not divide it: enough
// vectors that a part of each block can become a loop (LoopOverRest), but a small part of the axis.
int64_t BlockAround(const ScheduleBuilder& t, size_t axis, int64_t lanes) {
  const int64_t enough = EnoughGroups(t), vectors = t.Size(axis) / lanes;
  int64_t others = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (i != axis) others = SaturatingMul(others, t.Size(i));
  }
  const int64_t items = SaturatingMul(others, vectors);
  if (others >= enough) return lanes;
  const int64_t inner = std::max<int64_t>(1, std::min(items / enough, t.MostRepeated(vectors)));
  return lanes * static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(inner)));
}

// Finds a load that vectors along `axis` would read with a stride, and returns the axis of this
// kind along which that load is contiguous. Returns kNoAxis if there is none.
size_t AxisInMemory(const ScheduleBuilder& t, AxisKind kind, const UOp* staged, size_t axis) {
  for (size_t i : t.Axes(kind)) {
    if (t.nest().base[t.nest().axes[i].base].staged != staged || t.IsSymbolic(i)) continue;
    const bool in_memory = llvm::any_of(t.accesses(), [&](const analysis::Access& a) {
      const std::optional<int64_t> stride = t.Stride(a, axis);
      return !a.is_store() && !a.is_gated && stride && *stride != 0 && *stride != 1 &&
             t.Stride(a, i) == 1;
    });
    if (in_memory && i != axis && t.LanesAlong(i, directive::Upcast::kMost) > 1) return i;
  }
  return kNoAxis;
}

}  // namespace

void VectorizeBest(ScheduleBuilder& t, AxisKind kind, const UOp* staged) {
  const VectorizationCost lanes(t, 0);
  size_t best = kNoAxis;
  double best_score = 0;
  for (size_t i : t.Axes(kind)) {
    if (lanes.Along(i) == 1 || t.nest().base[t.nest().axes[i].base].staged != staged) continue;
    const double score = Score(t, i);
    if (Candidates* candidates = t.candidates()) {
      candidates->AddChoice("vectors along " + t.nest().axes[i].name, score,
                            "points for contiguous accesses, the most are best");
    }
    if (score > best_score) best = i, best_score = score;
  }
  if (best == kNoAxis) return;
  // If the lanes of a load come from distant addresses, each lane's neighbours in memory are loaded
  // with it, so that a square block is transposed. Its sides are the width of the vector, or the
  // largest amount of an upcast.
  const size_t in_memory = AxisInMemory(t, kind, staged, best);
  int64_t amount = lanes.Along(best);
  if (in_memory == kNoAxis) {
    const bool in_groups = kind == AxisKind::kGlobal;
    t.TryBlock<directive::Vectorize>(best, amount,
                                     in_groups ? BlockAround(t, best, amount) : amount);
    return;
  }
  amount = std::min(amount, directive::Upcast::kMost);
  const int64_t together = t.LanesAlong(in_memory, amount);
  const std::string name = t.nest().axes[in_memory].name;
  if (t.TryBlock<directive::Vectorize>(best, amount)) {
    t.TryBlock<directive::Upcast>(t.nest().AxisNamed(name), together);
  }
}

void MakeTile(ScheduleBuilder& t, const VectorizationCost::RegisterTile& tile) {
  // A directive moves axes, so each is found by its name.
  std::vector<std::string> names;
  for (const auto& [axis, rows] : tile) names.push_back(t.nest().axes[axis].name);
  for (size_t k = 0; k < tile.size(); ++k) {
    const int found = t.nest().FindAxis(names[k]);
    if (found < 0) continue;
    const auto axis = static_cast<size_t>(found);
    if (t.nest().axes[axis].kind == AxisKind::kReduce)
      t.Try<directive::Unroll>(axis, tile[k].second);
    else
      t.Upcast(axis, tile[k].second);
  }
}

namespace {

// If vectors along an axis in which results are adjacent in memory cost less than `least` after the
// axis is padded to whole vectors, pads and vectorizes it, and upcasts the vectors, so that the
// compiler knows which lanes are padding. Returns whether it did.
bool VectorizePadded(ScheduleBuilder& t, double least) {
  const VectorizationCost lanes(t, 0);
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool is_adjacent = llvm::all_of(t.accesses(), [&](const analysis::Access& a) {
      return !a.is_store() || t.Stride(a, i) == 1;
    });
    if (!is_adjacent || t.IsSymbolic(i)) continue;
    const int64_t size = t.Size(i);
    const int64_t width = std::min<int64_t>(lanes.Widest(), std::bit_ceil<uint64_t>(size));
    const int64_t vectors = CeilDiv(size, width);
    if (size % width == 0 || vectors > lanes.MaxAccumulatorVectors(width)) continue;
    const ScheduleBuilder::State unpadded = t.Save();
    const std::string name = t.nest().axes[i].name;
    if (!t.Try<directive::PadTo>(i, width)) continue;
    const double padding = static_cast<double>(vectors * width) / static_cast<double>(size);
    const double cost = VectorizationCost(t, 0).Of(i) * padding;
    if (Candidates* candidates = t.candidates()) {
      candidates->AddChoice("vectors along " + name + ", padded", cost, VectorizationCost::kUnit);
    }
    if (cost < least && t.Try<directive::Vectorize>(i, width)) {
      if (vectors > 1) TryNamed<directive::Upcast>(t, name + ".0", vectors);
      return true;
    }
    t.Restore(unpadded);
  }
  return false;
}

// If a vector has fewer lanes than fill a register, upcasts the axis along which the results
// continue in memory where the vector ends, so that several of its steps are computed as one
// vector.
void FillRegister(ScheduleBuilder& t, int64_t widest) {
  const size_t vector = t.Axes(AxisKind::kVector).back();
  const int64_t lanes = t.Size(vector);
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool continues = llvm::all_of(t.accesses(), [&](const analysis::Access& a) {
      return !a.is_store() || (t.Stride(a, vector) == 1 && t.Stride(a, i) == lanes);
    });
    if (!continues || t.IsSymbolic(i)) continue;
    const int64_t steps = PowerOfTwoDivisor(t.Size(i), widest / lanes);
    if (steps > 1) t.Try<directive::Upcast>(i, steps);
    return;
  }
}

}  // namespace

bool VectorizeResults(ScheduleBuilder& t, analysis::LoopSet shared) {
  const VectorizationCost lanes(t, shared);
  const size_t best = lanes.Cheapest(t.Axes(AxisKind::kGlobal));
  if (shared != 0 || !VectorizePadded(t, lanes.Of(best))) {
    if (best == kNoAxis) return false;
    const int64_t width = lanes.Along(best);
    const int64_t block = shared == 0 ? BlockAround(t, best, width) : width;
    if (!t.TryBlock<directive::Vectorize>(best, width, block)) return false;
  }
  if (shared != 0 || !t.Axes(AxisKind::kUpcast).empty()) return true;
  const VectorizationCost tiled(t, 0);
  const loop_nest::AxisList vectors = t.Axes(AxisKind::kVector);
  MakeTile(t, tiled.TileOfResults(vectors.back(), t.Size(vectors.back())));
  if (t.Axes(AxisKind::kUpcast).empty()) FillRegister(t, tiled.Widest());
  return true;
}

void UnrollShort(ScheduleBuilder& t) {
  const VectorizationCost lanes(t, 0);
  for (const VectorizationCost::Reduce& reduce : lanes.reduces()) {
    const size_t last = lanes.LastAxis(reduce.node);
    if (lanes.IsShort(last) && t.nest().UpcastSize() <= t.target().MaxAccumulators()) {
      t.Try<directive::Unroll>(last);
    }
  }
}

int64_t EnoughGroups(const ScheduleBuilder& t) {
  return t.target().least_groups * t.target().compute_units;
}

void LoopOverRest(ScheduleBuilder& t, analysis::LoopSet shared) {
  const int64_t enough = EnoughGroups(t), many = t.target().most_groups * t.target().compute_units;
  loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  llvm::erase_if(
      globals, [&](size_t i) { return (shared & analysis::LoopBit(t.nest().axes[i].base)) != 0; });
  int64_t items = 1;
  for (size_t i : globals) items *= t.Size(i);
  // The names of whole axes, the innermost first: a directive moves axes.
  std::vector<std::string> whole;
  while (!globals.empty() && items > many && !t.IsSymbolic(globals.back()) &&
         items / t.Size(globals.back()) >= enough) {
    whole.push_back(t.nest().axes[globals.back()].name);
    items /= t.Size(globals.pop_back_val());
  }
  if (!globals.empty() && items > many && !t.IsSymbolic(globals.back())) {
    const int64_t inner =
        PowerOfTwoDivisor(t.Size(globals.back()), std::max<int64_t>(1, items / enough));
    if (inner > 1) t.Try<directive::Loop>(globals.back(), inner);
  }
  for (const std::string& name : llvm::reverse(whole)) TryNamed<directive::Loop>(t, name, 0);
}

}  // namespace tg::schedule
