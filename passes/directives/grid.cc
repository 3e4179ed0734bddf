// The directives that order the grid and the work-items of a group: swap, grid, neighbours.
#include <utility>

#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {

absl::Status Swap::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  size_t a = 0, b = 0;
  if (absl::Status s = FindAxis(nest, axis, a); !s.ok()) return s;
  if (absl::Status s = FindAxis(nest, other, b); !s.ok()) return s;
  if (a == b) return Illegal("names one axis twice");
  if (nest.axes[a].kind != AxisKind::kGlobal || nest.axes[b].kind != AxisKind::kGlobal) {
    return Illegal("both axes must be global");
  }
  return absl::OkStatus();
}

void Swap::Apply(loop_nest::LoopNest& nest) const {
  loop_nest::AxisList to;
  for (size_t i = 0; i < nest.axes.size(); ++i) to.push_back(i);
  std::swap(to[nest.AxisNamed(axis)], to[nest.AxisNamed(other)]);
  nest.Permute(to);
}

absl::Status Grid::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  size_t at = 0;
  if (absl::Status s = FindAxis(nest, axis, at); !s.ok()) return s;
  if (dimension < 0 || dimension > 2) return Illegal("the grid has dimensions 0, 1 and 2");
  if (way && *way != kDown) return Illegal("the grid goes up, or down");
  if (nest.axes[at].kind != AxisKind::kGlobal) return Illegal("the axis is not global");
  for (const loop_nest::LoopAxis& a : nest.axes) {
    if (a.kind == AxisKind::kGlobal && a.grid_dim == dimension)
      return Illegal("axis ", a.name, " has that dimension");
  }
  return absl::OkStatus();
}

void Grid::Apply(loop_nest::LoopNest& nest) const {
  loop_nest::LoopAxis& a = nest.axes[nest.AxisNamed(axis)];
  a.grid_dim = static_cast<int>(dimension);
  a.goes_down = way.has_value();
}

absl::Status Neighbours::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  size_t at = 0;
  if (absl::Status s = FindAxis(nest, axis, at); !s.ok()) return s;
  const loop_nest::LoopAxis& own = nest.axes[at];
  if (!own.HasItems()) return Illegal("the axis has no work-items of its own");
  if (!nest.matrices.empty()) return Illegal("matrix instructions number the work-items");
  for (const loop_nest::LoopAxis& a : nest.axes) {
    if (a.kind != AxisKind::kGlobal && a.grid_dim >= 0) {
      return Illegal("the work-items along ", a.name, " are neighbours");
    }
  }
  return absl::OkStatus();
}

void Neighbours::Apply(loop_nest::LoopNest& nest) const {
  nest.axes[nest.AxisNamed(axis)].grid_dim = 0;
}

}  // namespace tg::directive
