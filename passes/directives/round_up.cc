#include "base/arithmetic.h"
#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {
namespace {

// Fails unless the axis is whole. Sets `at` to its position.
absl::Status CheckRounding(const loop_nest::LoopNest& nest, const std::string& axis, int64_t size,
                           size_t& at) {
  if (absl::Status s = FindAxis(nest, axis, at); !s.ok()) return s;
  if (size < 2) return Illegal("the amount must be at least 2");
  const loop_nest::LoopAxis& a = nest.axes[at];
  if (!nest.maps[a.base].IsWhole()) return Illegal("the axis is already split");
  if (a.kind != AxisKind::kGlobal && a.kind != AxisKind::kReduce && a.kind != AxisKind::kLoop &&
      a.kind != AxisKind::kStage) {
    return Illegal("the axis is already ", std::string(AxisKindName(a.kind)));
  }
  return absl::OkStatus();
}

// Gives the axis the steps of whole blocks; a symbolic one keeps its size, the number of steps that
// it has, unless it has one block.
void RoundUpTo(loop_nest::LoopNest& nest, size_t at, int64_t block, loop_nest::Domain domain) {
  loop_nest::LoopAxis& axis = nest.axes[at];
  const bool is_symbolic = axis.size.is_symbolic() && axis.max_size > block;
  axis.max_size = RoundUp(axis.max_size, block);
  if (!is_symbolic) axis.size = axis.max_size;
  nest.maps[axis.base].domain = domain;
  nest.maps[axis.base].block = block;
}

}  // namespace

absl::Status PadTo::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  size_t at = 0;
  if (absl::Status s = CheckRounding(nest, axis, size, at); !s.ok()) return s;
  const loop_nest::LoopAxis& a = nest.axes[at];
  const loop_nest::AxisMap& map = nest.maps[a.base];
  if (map.Overlaps()) return Illegal("the axis overlaps");
  if (a.size.is_symbolic()) {
    const analysis::BaseAxis& base = nest.base[a.base];
    const bool is_sum = base.reduce && base.reduce->op == Op::kReduceAxis;
    if (!base.IsStored() && !is_sum) {
      return Illegal("the axis is symbolic, and neither of results nor of a reduce");
    }
    if (map.IsPadded()) return Illegal("the axis is symbolic, and padded already");
  }
  if (a.max_size < (size + 3) / 4) return Illegal("it would more than quadruple the axis");
  return absl::OkStatus();
}

void PadTo::Apply(loop_nest::LoopNest& nest) const {
  const size_t at = nest.AxisNamed(axis);
  const loop_nest::LoopAxis& a = nest.axes[at];
  if (!a.size.is_symbolic() && a.max_size % size == 0) return;
  RoundUpTo(nest, at, size, loop_nest::Domain::kBelow);
}

absl::Status Overlap::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  size_t at = 0;
  if (absl::Status s = CheckRounding(nest, axis, size, at); !s.ok()) return s;
  const loop_nest::LoopAxis& a = nest.axes[at];
  if (a.size.is_symbolic()) return Illegal("the axis is symbolic");
  if (nest.maps[a.base].IsPadded()) return Illegal("the axis is padded");
  if (nest.maps[a.base].Overlaps()) return Illegal("the axis overlaps already");
  if (a.max_size < size) return Illegal("the axis has only ", a.max_size, " steps");
  return absl::OkStatus();
}

void Overlap::Apply(loop_nest::LoopNest& nest) const {
  const size_t at = nest.AxisNamed(axis);
  if (nest.axes[at].max_size % size == 0) return;
  RoundUpTo(nest, at, size, loop_nest::Domain::kShifted);
}

}  // namespace tg::directive
