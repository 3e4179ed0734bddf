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
  static_cast<Binding&>(low) = {.kind = low.kind};
  LoopAxis& high = axes[axis];
  high.name += ".0";
  high.max_size = outer;
  if (!high.size.is_symbolic()) high.size = outer;
  auto& own = maps[low.base].digits;
  axes.insert(axes.begin() + static_cast<ptrdiff_t>(axis) + 1, std::move(low));
  for (AxisMap& map : maps) {
    for (Digit& d : map.digits) d.axis += d.axis > axis;
  }
  auto* digit =
      std::find_if(own.begin(), own.end(), [&](const Digit& d) { return d.axis == axis; });
  TG_CHECK(digit != own.end());
  const int64_t stride = digit->stride;
  digit->stride = stride * inner;
  own.insert(digit + 1, {axis + 1, stride});
}

size_t LoopNest::Bind(size_t axis, Binding binding) {
  size_t at = axes.size();
  while (at > 0 && Rank(axes[at - 1].kind) > Rank(binding.kind)) --at;
  if (at > axis) --at;
  static_cast<Binding&>(axes[axis]) = std::move(binding);
  AxisList to;
  for (size_t i = 0; i < axes.size(); ++i) {
    to.push_back(i == axis ? at : i + (at <= i && i < axis) - (axis < i && i <= at));
  }
  Permute(to);
  return at;
}

void LoopNest::Permute(const AxisList& to) {
  std::vector<LoopAxis> before(axes.size());
  before.swap(axes);
  for (size_t i = 0; i < before.size(); ++i) axes[to[i]] = std::move(before[i]);
  for (AxisMap& map : maps) {
    for (Digit& d : map.digits) d.axis = to[d.axis];
  }
}

}  // namespace tg::loop_nest
