// The directives that bind a part of an axis: upcast, vectorize, unroll, local, loop.
#include "passes/directives/directives.h"
#include "passes/directives/part.h"

namespace tg::directive {
namespace {

// Copies of the body, or lanes, that one work-item may compute along an axis.
constexpr int64_t kMostCopies = 16, kMostLanes = 64, kMostTerms = 32;

}  // namespace

absl::Status Upcast::Check(const LoopNest& nest, const Target&) const {
  const auto kinds = {AxisKind::kGlobal, AxisKind::kLoop, AxisKind::kStage};
  return Part{axis, size}.CheckOf(nest, kinds, kMostCopies);
}

void Upcast::Apply(LoopNest& nest) const { Part{axis, size}.Bind(nest, AxisKind::kUpcast); }

absl::Status Vectorize::Check(const LoopNest& nest, const Target&) const {
  const auto kinds = {AxisKind::kGlobal, AxisKind::kLoop, AxisKind::kStage};
  return Part{axis, size}.CheckOf(nest, kinds, kMostLanes);
}

void Vectorize::Apply(LoopNest& nest) const { Part{axis, size}.Bind(nest, AxisKind::kVector); }

absl::Status Unroll::Check(const LoopNest& nest, const Target&) const {
  return Part{axis, size}.CheckOf(nest, {AxisKind::kReduce}, kMostTerms);
}

void Unroll::Apply(LoopNest& nest) const { Part{axis, size}.Bind(nest, AxisKind::kUnroll); }

absl::Status Local::Check(const LoopNest& nest, const Target&) const {
  return Part{axis, size}.CheckOf(nest, {AxisKind::kGlobal}, INT64_MAX);
}

void Local::Apply(LoopNest& nest) const { Part{axis, size}.Bind(nest, AxisKind::kLocal); }

absl::Status Loop::Check(const LoopNest& nest, const Target&) const {
  const int at = nest.FindAxis(axis);
  const bool is_global = at >= 0 && nest.axes[static_cast<size_t>(at)].kind == AxisKind::kGlobal;
  return Part{axis, size}.CheckOf(nest, {AxisKind::kGlobal, AxisKind::kReduce}, INT64_MAX,
                                  /*symbolic=*/is_global);
}

void Loop::Apply(LoopNest& nest) const { Part{axis, size}.Bind(nest, AxisKind::kLoop); }

}  // namespace tg::directive
