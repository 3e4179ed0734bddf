// Changes of loops.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::loop_nest {
namespace {

// The place of a kind in the order of a kernel's name; unrolled and upcast axes keep the order in
// which they were made, vectors are the innermost lanes.
int Rank(AxisKind k) {
  switch (k) {
    case AxisKind::kGlobal:
      return 0;
    case AxisKind::kLoop:
      return 1;
    case AxisKind::kLocal:
      return 2;
    case AxisKind::kGroup:
      return 3;
    case AxisKind::kReduce:
      return 4;
    case AxisKind::kStage:
      return 5;
    case AxisKind::kUnroll:
    case AxisKind::kUpcast:
      return 6;
    case AxisKind::kVector:
      return 7;
  }
  TG_UNREACHABLE();
}

}  // namespace

void LoopNest::Split(size_t axis, int64_t outer, int64_t inner) {
  LoopAxis low = axes[axis];
  low.name += ".1";
  low.size = low.max_size = inner;
  low.block = low.of_block = 1;
  low.grid_dim = -1;
  low.goes_down = false;
  LoopAxis& high = axes[axis];
  high.name += ".0";
  high.max_size = outer;
  if (high.size.is_symbolic()) {
    TG_CHECK(high.of_block % inner == 0);
    high.of_block /= inner;
  } else {
    high.size = outer;
  }
  auto& own = digits[low.base];
  axes.insert(axes.begin() + static_cast<ptrdiff_t>(axis) + 1, std::move(low));
  for (auto& all : digits) {
    for (Digit& d : all) d.axis += d.axis > axis;
  }
  auto* digit =
      std::find_if(own.begin(), own.end(), [&](const Digit& d) { return d.axis == axis; });
  TG_CHECK(digit != own.end());
  const int64_t stride = digit->stride;
  digit->stride = stride * inner;
  own.insert(digit + 1, {axis + 1, stride});
}

size_t LoopNest::Bind(size_t axis, AxisKind kind) {
  size_t at = axes.size();
  while (at > 0 && Rank(axes[at - 1].kind) > Rank(kind)) --at;
  if (at > axis) --at;
  axes[axis].kind = kind;
  axes[axis].grid_dim = -1;  // it is no part of the grid any more
  axes[axis].goes_down = false;
  const auto place = [&](size_t i) { return axes.begin() + static_cast<ptrdiff_t>(i); };
  if (at > axis)
    std::rotate(place(axis), place(axis + 1), place(at + 1));
  else
    std::rotate(place(at), place(axis), place(axis + 1));
  for (auto& all : digits) {
    for (Digit& d : all) {
      if (d.axis == axis)
        d.axis = at;
      else
        d.axis += (at <= d.axis && d.axis < axis) - (axis < d.axis && d.axis <= at);
    }
  }
  return at;
}

}  // namespace tg::loop_nest
