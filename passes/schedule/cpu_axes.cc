#include "passes/schedule/cpu_axes.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/vector_axes.h"

namespace tg::schedule {
namespace {

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

bool VectorizeBlocks(ScheduleBuilder& t, size_t axis) {
  const AxisKind kind = t.nest().axes[axis].kind;
  const UOp* const staged = t.nest().base[t.nest().axes[axis].base].staged;
  // If the lanes of a load come from distant addresses, each lane's neighbours in memory are loaded
  // with it, so that a square block is transposed. Its sides are the width of the vector, or the
  // largest amount of an upcast.
  const size_t in_memory = AxisInMemory(t, kind, staged, axis);
  int64_t amount = VectorAxes(t).Along(axis);
  if (in_memory == kNoAxis) {
    const bool in_groups = kind == AxisKind::kGlobal;
    return t.TryBlock<directive::Vectorize>(axis, amount,
                                            in_groups ? BlockAround(t, axis, amount) : amount);
  }
  amount = std::min(amount, directive::Upcast::kMost);
  const int64_t together = t.LanesAlong(in_memory, amount);
  const std::string name = t.nest().axes[in_memory].name;
  if (!t.TryBlock<directive::Vectorize>(axis, amount)) return false;
  t.TryBlock<directive::Upcast>(t.nest().AxisNamed(name), together);
  return true;
}

void MakeTile(ScheduleBuilder& t, const VectorAxes::RegisterTile& tile) {
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

// Whether padding the axis makes whole vectors of results that are adjacent in memory.
bool MayPadVectors(const ScheduleBuilder& t, size_t axis, int64_t width) {
  const bool is_adjacent = llvm::all_of(t.accesses(), [&](const analysis::Access& a) {
    return !a.is_store() || t.Stride(a, axis) == 1;
  });
  return is_adjacent && !t.IsSymbolic(axis) && t.Size(axis) % width != 0;
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

bool VectorizeResults(ScheduleBuilder& t, size_t axis) {
  const int64_t width = VectorAxes(t).Along(axis);
  return width > 1 && t.TryBlock<directive::Vectorize>(axis, width, BlockAround(t, axis, width));
}

bool VectorizePadded(ScheduleBuilder& t, size_t axis) {
  const auto size = static_cast<uint64_t>(t.Size(axis));
  const auto width = std::min(VectorAxes(t).Widest(), static_cast<int64_t>(std::bit_ceil(size)));
  const int64_t vectors = CeilDiv(t.Size(axis), width);
  if (!MayPadVectors(t, axis, width) || vectors > VectorAxes(t).MaxAccumulatorVectors(width)) {
    return false;
  }
  const ScheduleBuilder::State unpadded = t.Save();
  const std::string name = t.nest().axes[axis].name;
  if (t.Try<directive::PadTo>(axis, width) && TryNamed<directive::Vectorize>(t, name, width)) {
    if (vectors > 1) TryNamed<directive::Upcast>(t, name + ".0", vectors);
    return true;
  }
  t.Restore(unpadded);
  return false;
}

bool VectorizeAligned(ScheduleBuilder& t, size_t axis) {
  const int64_t size = t.Size(axis), width = VectorAxes(t).Widest();
  if (t.IsSymbolic(axis) || size % width == 0 || !t.PaddingIsAcceptable(size, width)) return false;
  const ScheduleBuilder::State unpadded = t.Save();
  const std::string name = t.nest().axes[axis].name;
  if (t.Try<directive::PadTo>(axis, width) && TryNamed<directive::Vectorize>(t, name, width)) {
    return true;
  }
  t.Restore(unpadded);
  return false;
}

void TileVectors(ScheduleBuilder& t) {
  if (!t.Axes(AxisKind::kUpcast).empty()) return;
  const VectorAxes lanes(t);
  const loop_nest::AxisList vectors = t.Axes(AxisKind::kVector);
  MakeTile(t, lanes.TileOfResults(vectors.back(), t.Size(vectors.back())));
  if (t.Axes(AxisKind::kUpcast).empty()) FillRegister(t, lanes.Widest());
}

void UnrollShort(ScheduleBuilder& t) {
  const VectorAxes lanes(t);
  for (const UOp* reduce : lanes.reduces()) {
    const size_t last = lanes.LastAxis(reduce);
    if (lanes.IsShort(last) && t.nest().UpcastSize() <= t.target().MaxAccumulators()) {
      t.Try<directive::Unroll>(last);
    }
  }
}

int64_t EnoughGroups(const ScheduleBuilder& t) {
  return t.target().least_groups * t.target().compute_units;
}

namespace {

// LoopOverRest where there are more than `many` groups, by which at least `enough` are left.
void LoopToGroups(ScheduleBuilder& t, analysis::LoopSet shared, int64_t enough, int64_t many) {
  loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  llvm::erase_if(
      globals, [&](size_t i) { return (shared & analysis::LoopBit(t.nest().axes[i].base)) != 0; });
  int64_t items = 1;
  for (size_t i : globals) items *= t.Size(i);
  // The names of whole axes, the innermost first: a directive moves axes.
  std::vector<std::string> whole;
  while (!globals.empty() && items > many && items / t.Size(globals.back()) >= enough) {
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

}  // namespace

void LoopOverRest(ScheduleBuilder& t, analysis::LoopSet shared) {
  LoopToGroups(t, shared, EnoughGroups(t), t.target().most_groups * t.target().compute_units);
}

void AddLooped(ScheduleBuilder& t, Proposals& to) {
  const ScheduleBuilder::State plain = t.Save();
  LoopOverRest(t);
  to.Add();
  t.Restore(plain);
  const int64_t few = t.target().groups_per_unit * t.target().compute_units;
  LoopToGroups(t, 0, few, few);
  to.Add();
}

}  // namespace tg::schedule
