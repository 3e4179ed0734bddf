#include <algorithm>

#include "passes/optimize/heuristic.h"

namespace tg {
namespace {

// Acceptable padding overhead, one in this many iterations: for a tile, and for a number of tiles
// that divides into blocks.
constexpr int64_t kTileWaste = 16, kBlockWaste = 64;

// Whether padding `size` to a multiple of `rows` adds at most one in `waste`.
bool WastesLittle(int64_t size, int64_t rows, int64_t waste) {
  return ((size + rows - 1) / rows * rows - size) * waste <= size;
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

bool Tuner::Try(std::string_view name, size_t axis, int64_t amount) {
  Opt opt;
  opt.name = std::string(name);
  opt.args.push_back({schedule_.axes[axis].name, 0});
  if (amount != 0 && amount != Size(axis)) opt.args.push_back({"", amount});
  return Keep(std::move(opt));
}

bool Tuner::TryWith(std::string_view name, size_t axis, std::string_view other) {
  Opt opt;
  opt.name = std::string(name);
  opt.args = {{schedule_.axes[axis].name, 0}, {std::string(other), 0}};
  return Keep(std::move(opt));
}

void Tuner::LoopAlong(LoopSet bases) {
  // A directive moves axes, so each is looked up again.
  const auto next = [&] {
    const AxisList globals = Axes(AxisKind::kGlobal);
    return std::any_of(globals.begin(), globals.end(), [&](size_t i) {
      return (bases & LoopBit(schedule_.axes[i].base)) != 0 && Try("loop", i);
    });
  };
  while (next()) {
  }
}

bool Tuner::Keep(Opt opt) {
  if (!ApplyOpt(schedule_, opt, target_).ok()) return false;
  opts_.push_back(std::move(opt));
  return true;
}

AxisList Tuner::Axes(AxisKind kind) const {
  AxisList out;
  for (size_t i = 0; i < schedule_.axes.size(); ++i) {
    const UOp* reduce = schedule_.base[schedule_.axes[i].base].reduce;
    const bool folded = reduce && folded_.Contains(reduce);
    if (schedule_.axes[i].kind == kind && !folded) out.push_back(i);
  }
  return out;
}

std::optional<int64_t> Tuner::Stride(const Access& a, size_t axis) const {
  const size_t base = schedule_.axes[axis].base;
  const std::optional<int64_t> whole = a.stride[base];
  if (!whole) return std::nullopt;
  for (const Digit& d : schedule_.digits[base]) {
    if (d.axis == axis) return *whole * d.stride;
  }
  return 0;
}

LoopSet Tuner::SharedAlong() const {
  constexpr int64_t kFewTerms = 4;
  LoopSet outer = 0, shared = 0;
  for (size_t i = 0; i < schedule_.base.size(); ++i) {
    if (schedule_.base[i].IsStored()) outer |= LoopBit(i);
  }
  for (size_t i = 0; i < schedule_.base.size(); ++i) {
    const UOp* reduce = ReduceOf(schedule_.base[i]);
    if (!reduce) continue;
    int64_t terms = 1;
    for (const BaseAxis& b : schedule_.base) terms *= b.reduce == reduce ? b.max_size : 1;
    if (terms > kFewTerms) shared |= outer & ~schedule_.varies[i];
  }
  return shared;
}

bool Tuner::MayPad(size_t axis) const {
  const ScheduledAxis& a = schedule_.axes[axis];
  return a.kind == AxisKind::kGlobal && schedule_.digits[a.base].size() == 1;
}

bool Tuner::TakesTiles(size_t axis, int64_t rows) const {
  const int64_t size = Size(axis);
  return size % rows == 0 || (MayPad(axis) && size > rows && WastesLittle(size, rows, kTileWaste));
}

int64_t Tuner::TileAlong(size_t axis, int64_t most, int64_t divisor) const {
  const int64_t size = Size(axis);
  if (!MayPad(axis) || 2 * divisor > most || size <= most) return divisor;
  for (int64_t rows = most; rows > divisor; --rows) {
    if (WastesLittle(size, rows, kTileWaste)) return rows;
  }
  return divisor;
}

bool Tuner::Upcast(size_t axis, int64_t rows) {
  const int64_t size = Size(axis);
  int64_t to = rows;
  for (int64_t tiles = 2; size % rows != 0 && tiles <= 8; tiles *= 2) {
    if (WastesLittle(size, rows * tiles, kBlockWaste)) to = rows * tiles;
  }
  if (size % to != 0 && !Try("padto", axis, to)) return false;
  return Try("upcast", axis, rows);
}

size_t Tuner::ServedAlong(size_t axis) const {
  return static_cast<size_t>(
      std::count_if(accesses_.begin(), accesses_.end(), [&](const Access& a) {
        if (a.is_store() || Stride(a, axis) != 0) return false;
        for (size_t n = 0; n < schedule_.base.size(); ++n) {
          if (schedule_.base[n].staged && a.stride[n] != 0) return true;
        }
        return false;
      }));
}

bool Tuner::IsInnermost(size_t axis) const {
  const size_t base = schedule_.axes[axis].base;
  for (size_t n = base + 1; n < schedule_.base.size(); ++n) {
    if (schedule_.base[n].staged == schedule_.base[base].staged) return false;
  }
  return schedule_.digits[base].back().axis == axis;
}

int64_t Tuner::WorkItems() const {
  int64_t n = 1;
  for (const ScheduledAxis& a : schedule_.axes) {
    if (a.kind == AxisKind::kGlobal || a.kind == AxisKind::kLocal) n *= a.max_size;
  }
  return n;
}

bool Tuner::HasLanes(size_t axis) const {
  for (const Digit& d : schedule_.digits[schedule_.axes[axis].base]) {
    switch (schedule_.axes[d.axis].kind) {
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

}  // namespace tg
