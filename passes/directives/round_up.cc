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
  if (nest.digits[a.base].size() != 1) return Illegal("the axis is already split");
  if (a.kind != AxisKind::kGlobal && a.kind != AxisKind::kReduce && a.kind != AxisKind::kLoop &&
      a.kind != AxisKind::kStage) {
    return Illegal("the axis is already ", std::string(AxisKindName(a.kind)));
  }
  return absl::OkStatus();
}

void Extend(loop_nest::LoopAxis& axis, int64_t step) {
  axis.max_size = RoundUp(axis.max_size, step);
  axis.size = axis.max_size;
}

}  // namespace

absl::Status PadTo::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  size_t at = 0;
  if (absl::Status s = CheckRounding(nest, axis, size, at); !s.ok()) return s;
  const loop_nest::LoopAxis& a = nest.axes[at];
  if (nest.overlap[a.base] != 0) return Illegal("the axis overlaps");
  if (a.size.is_symbolic()) {
    if (!nest.base[a.base].IsStored()) return Illegal("the axis is symbolic, and not of results");
    if (a.block != 1) return Illegal("the axis is symbolic, and padded already");
  }
  if (a.max_size < (size + 3) / 4) return Illegal("it would more than quadruple the axis");
  return absl::OkStatus();
}

void PadTo::Apply(loop_nest::LoopNest& nest) const {
  loop_nest::LoopAxis& a = nest.axes[nest.AxisNamed(axis)];
  if (a.size.is_symbolic() && a.max_size > size) {
    a.block = a.of_block = size;
    a.max_size = RoundUp(a.max_size, size);
  } else if (a.size.is_symbolic() || a.max_size % size != 0) {
    Extend(a, size);
  } else {
    return;
  }
  nest.padded[a.base] = true;
}

absl::Status Overlap::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  size_t at = 0;
  if (absl::Status s = CheckRounding(nest, axis, size, at); !s.ok()) return s;
  const loop_nest::LoopAxis& a = nest.axes[at];
  if (a.size.is_symbolic()) return Illegal("the axis is symbolic");
  if (nest.padded[a.base]) return Illegal("the axis is padded");
  if (nest.overlap[a.base] != 0) return Illegal("the axis overlaps already");
  if (a.max_size < size) return Illegal("the axis has only ", a.max_size, " steps");
  return absl::OkStatus();
}

void Overlap::Apply(loop_nest::LoopNest& nest) const {
  loop_nest::LoopAxis& a = nest.axes[nest.AxisNamed(axis)];
  if (a.max_size % size == 0) return;
  Extend(a, size);
  nest.overlap[a.base] = size;
}

}  // namespace tg::directive
