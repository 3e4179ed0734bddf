// The directives that bind a part of an axis: upcast, vectorize, unroll, local, loop.
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {

absl::Status BindPart::CheckOf(const loop_nest::LoopNest& nest,
                               std::initializer_list<AxisKind> kinds, int64_t limit,
                               bool symbolic) const {
  size_t at = 0;
  if (absl::Status s = FindAxis(nest, axis, at); !s.ok()) return s;
  const loop_nest::LoopAxis& whole = nest.axes[at];
  if (!llvm::is_contained(kinds, whole.kind) || nest.IsReduceLoop(at)) {
    return Illegal("axis ", whole.name, " is ", std::string(AxisKindName(whole.kind)));
  }
  if (size && *size != 0 && *size != whole.max_size) {
    if (absl::Status s = CheckSplit(nest, at, *size); !s.ok()) return s;
  } else {
    if (absl::Status s = CheckUnused(nest, at); !s.ok()) return s;
    if (whole.size.is_symbolic() && !symbolic) return Illegal("the axis is symbolic");
  }
  const int64_t steps = size.value_or(0) != 0 ? *size : whole.max_size;
  if (steps > limit) return Illegal("the amount ", steps, " is over ", limit);
  return absl::OkStatus();
}

size_t BindPart::Bind(loop_nest::LoopNest& nest, loop_nest::Binding binding, bool is_outer) const {
  auto at = nest.AxisNamed(axis);
  const int64_t whole = nest.axes[at].max_size;
  if (size && *size != 0 && *size != whole) {
    if (is_outer) {
      nest.Split(at, *size, whole / *size);
    } else {
      nest.Split(at, whole / *size, *size);
      ++at;
    }
  }
  return nest.Bind(at, std::move(binding));
}

absl::Status Upcast::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  const auto kinds = {AxisKind::kGlobal, AxisKind::kLoop, AxisKind::kStage};
  return CheckOf(nest, kinds, kMost);
}

void Upcast::Apply(loop_nest::LoopNest& nest) const { Bind(nest, {.kind = AxisKind::kUpcast}); }

absl::Status Vectorize::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  const auto kinds = {AxisKind::kGlobal, AxisKind::kLoop, AxisKind::kStage};
  return CheckOf(nest, kinds, kMost);
}

void Vectorize::Apply(loop_nest::LoopNest& nest) const { Bind(nest, {.kind = AxisKind::kVector}); }

absl::Status Unroll::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  return CheckOf(nest, {AxisKind::kReduce}, kMost);
}

void Unroll::Apply(loop_nest::LoopNest& nest) const { Bind(nest, {.kind = AxisKind::kUnroll}); }

absl::Status Local::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  return CheckOf(nest, {AxisKind::kGlobal}, INT64_MAX);
}

void Local::Apply(loop_nest::LoopNest& nest) const { Bind(nest, {.kind = AxisKind::kLocal}); }

absl::Status Loop::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  const int at = nest.FindAxis(axis);
  const bool is_global = at >= 0 && nest.axes[static_cast<size_t>(at)].kind == AxisKind::kGlobal;
  if (at >= 0 && !is_global && nest.axes[static_cast<size_t>(at)].size.is_symbolic()) {
    return Illegal("axis ", axis, " is symbolic");
  }
  return CheckOf(nest, {AxisKind::kGlobal, AxisKind::kReduce}, INT64_MAX,
                 /*symbolic=*/is_global);
}

void Loop::Apply(loop_nest::LoopNest& nest) const { Bind(nest, {.kind = AxisKind::kLoop}); }

}  // namespace tg::directive
