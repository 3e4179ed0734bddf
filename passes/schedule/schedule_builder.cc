#include "passes/schedule/schedule_builder.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::schedule {
namespace {

// Whether the next multiple of `block` exceeds `size` by at most this share of it.
bool AddsAtMost(double share, int64_t size, int64_t block) {
  const int64_t added = RoundUp(size, block) - size;
  return static_cast<double>(added) <= static_cast<double>(size) * share;
}

}  // namespace

int64_t PowerOfTwoDivisor(int64_t n, int64_t limit) {
  int64_t d = 1;
  while (d * 2 <= limit && n % (d * 2) == 0) d *= 2;
  return d;
}

int64_t GreatestDivisor(int64_t n, int64_t limit) {
  int64_t d = std::max<int64_t>(1, std::min(n, limit));
  while (n % d != 0) --d;
  return d;
}

void ScheduleBuilder::LoopAlong(analysis::LoopSet bases) {
  // A directive moves axes, so each is looked up again.
  const auto next = [&] {
    const loop_nest::AxisList globals = Axes(AxisKind::kGlobal);
    return std::any_of(globals.begin(), globals.end(), [&](size_t i) {
      return (bases & analysis::LoopBit(nest_.axes[i].base)) != 0 && Try<directive::Loop>(i);
    });
  };
  while (next()) {
  }
}

loop_nest::AxisList ScheduleBuilder::Axes(AxisKind kind) const {
  loop_nest::AxisList out;
  for (size_t i = 0; i < nest_.axes.size(); ++i) {
    const analysis::BaseAxis& base = nest_.base[nest_.axes[i].base];
    const bool is_closed = base.reduce && !ReduceOf(base);
    if (nest_.axes[i].kind == kind && !is_closed) out.push_back(i);
  }
  return out;
}

std::optional<int64_t> ScheduleBuilder::Stride(const analysis::Access& a, size_t axis) const {
  const size_t base = nest_.axes[axis].base;
  const std::optional<int64_t> whole = a.stride[base];
  if (!whole) return std::nullopt;
  for (const loop_nest::Digit& d : nest_.maps[base].digits) {
    if (d.axis == axis) return *whole * d.stride;
  }
  return 0;
}

bool ScheduleBuilder::IsInterleaved(const analysis::Access& a, size_t axis) const {
  const std::optional<int64_t> stride = Stride(a, axis);
  if (a.is_store() || a.is_gated || !stride || *stride == 0) return false;
  const int64_t elements = std::abs(*stride);
  if (elements > target().tile_side) return false;
  const auto is_like = [&](const analysis::Access& other) {
    const bool same = a.slot >= 0 ? other.slot == a.slot : other.node == a.node;
    return same && !other.is_store() && Stride(other, axis) == stride;
  };
  return llvm::count_if(accesses(), is_like) >= elements;
}

analysis::LoopSet ScheduleBuilder::SharedAlong() const {
  analysis::LoopSet outer = 0, shared = 0;
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    if (nest_.base[i].IsStored()) outer |= analysis::LoopBit(i);
  }
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    const UOp* reduce = ReduceOf(nest_.base[i]);
    if (!reduce) continue;
    int64_t terms = 1;
    for (const analysis::BaseAxis& b : nest_.base) terms *= b.reduce == reduce ? b.max_size : 1;
    if (terms > target().short_terms) shared |= outer & ~nest_.varies[i];
  }
  return shared;
}

bool ScheduleBuilder::MayPad(size_t axis) const {
  const loop_nest::LoopAxis& a = nest_.axes[axis];
  return a.kind == AxisKind::kGlobal && nest_.maps[a.base].IsWhole();
}

bool ScheduleBuilder::MayOverlap(size_t axis) const {
  const loop_nest::LoopAxis& a = nest_.axes[axis];
  const bool is_whole = nest_.maps[a.base].IsWhole() && !a.size.is_symbolic() &&
                        nest_.maps[a.base].domain == loop_nest::Domain::kAll;
  return is_whole && !nest_.in_output && !(nest_.base[a.base].IsStored() && nest_.IsInPlace());
}

int64_t ScheduleBuilder::LanesAlong(size_t axis, int64_t most) const {
  const int64_t size = Size(axis), divisor = PowerOfTwoDivisor(size, most);
  const auto widest =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::min(size, most))));
  if (IsSymbolic(axis)) return target().masked_access && MayPad(axis) ? widest : 1;
  if (divisor == most || !MayOverlap(axis)) return divisor;
  const auto vectors = static_cast<double>(CeilDiv(size, widest));
  return vectors * target().unaligned_weight < static_cast<double>(size / divisor) ? widest
                                                                                   : divisor;
}

bool ScheduleBuilder::PaddingIsAcceptable(int64_t size, int64_t block) const {
  return AddsAtMost(target().padding, size, block);
}

int64_t ScheduleBuilder::MostRepeated(int64_t size) const {
  return static_cast<int64_t>(static_cast<double>(size) * 2 * target().padding);
}

bool ScheduleBuilder::RepeatsFew(int64_t size, int64_t block) const {
  return AddsAtMost(2 * target().padding, size, block);
}

bool ScheduleBuilder::IsTileable(size_t axis, int64_t rows) const {
  const int64_t size = Size(axis);
  return size % rows == 0 || (MayPad(axis) && size > rows && PaddingIsAcceptable(size, rows));
}

int64_t ScheduleBuilder::TileAlong(size_t axis, int64_t most, int64_t divisor) const {
  const int64_t size = Size(axis);
  if (!MayPad(axis) || 2 * divisor > most || size <= most) return divisor;
  for (int64_t rows = most; rows > divisor; --rows) {
    if (PaddingIsAcceptable(size, rows)) return rows;
  }
  return divisor;
}

bool ScheduleBuilder::Upcast(size_t axis, int64_t rows) {
  const int64_t size = Size(axis);
  int64_t to = rows;
  for (int64_t tiles = 2; size % rows != 0 && tiles <= 2 * target().tile_side; tiles *= 2) {
    if (AddsAtMost(target().padding / 2 / 2, size, rows * tiles)) to = rows * tiles;
  }
  if (size % to != 0 && !Try<directive::PadTo>(axis, to)) return false;
  return Try<directive::Upcast>(axis, rows);
}

size_t ScheduleBuilder::ReuseAlong(size_t axis) const {
  return static_cast<size_t>(
      std::count_if(accesses().begin(), accesses().end(), [&](const analysis::Access& a) {
        if (a.is_store() || Stride(a, axis) != 0) return false;
        for (size_t n = 0; n < nest_.base.size(); ++n) {
          if (nest_.base[n].staged && a.stride[n] != 0) return true;
        }
        return false;
      }));
}

bool ScheduleBuilder::IsInnermost(size_t axis) const {
  const size_t base = nest_.axes[axis].base;
  for (size_t n = base + 1; n < nest_.base.size(); ++n) {
    if (nest_.base[n].staged == nest_.base[base].staged) return false;
  }
  return nest_.maps[base].digits.back().axis == axis;
}

int64_t ScheduleBuilder::WorkItems() const {
  int64_t n = 1;
  for (const loop_nest::LoopAxis& a : nest_.axes) {
    if (a.kind == AxisKind::kGlobal || a.kind == AxisKind::kLocal) n *= a.max_size;
  }
  return n;
}

bool ScheduleBuilder::HasLanes(size_t axis) const {
  for (const loop_nest::Digit& d : nest_.maps[nest_.axes[axis].base].digits) {
    switch (nest_.axes[d.axis].kind) {
      case AxisKind::kUpcast:
      case AxisKind::kVector:
      case AxisKind::kUnroll:
        return true;
      default:
        break;
    }
  }
  return false;
}

}  // namespace tg::schedule
