// Interpolation: the value at a coordinate between the elements of a tensor is a weighted sum of
// the elements near it.
#ifndef TG_FRONTEND_ONNX_SAMPLING_H_
#define TG_FRONTEND_ONNX_SAMPLING_H_

#include <span>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

enum class Interpolation { kNearest, kLinear, kCubic };

// The values of elements outside of an axis.
enum class Border { kZeros, kEdge, kReflect };

// The elements along one axis that contribute to each sample, as tensors [batch, points..., taps].
// The `points` axes of several Taps broadcast against each other.
struct Taps {
  Value places = nullptr;   // i32 indices, at least 0; less than the extent if `inside` is null
  Value weights = nullptr;  // floats; null: 1
  Value inside = nullptr;   // bool: where false, the element counts as 0; null: always true
};

// The taps of an axis of `extent` elements at these coordinates, floats [batch, points...], where
// element i lies at coordinate i. `aligned`: the axis ends at the centers of its outermost
// elements, not half an element beyond (which matters to kReflect and kEdge).
Taps TapsAt(GraphBuilder& g, Value coordinates, const Dim& extent, Interpolation interpolation,
            Border border, bool aligned);

// Samples x, [batch, channels, axes...]: the weighted elements, reduced over all taps (kAdd
// interpolates), as [batch, points..., channels]. With weights, the type is f32 or f64.
Value Sample(GraphBuilder& g, Value x, std::span<const Taps> axes, Op reduce = Op::kAdd);

// Converts narrower floats and integers to f32; f32 and f64 are unchanged.
Value AsWideFloat(GraphBuilder& g, Value x);

// Reshapes `vector` so that it broadcasts along this axis of a tensor of `rank` axes.
Value AlongAxis(GraphBuilder& g, Value vector, size_t rank, size_t axis);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_SAMPLING_H_
