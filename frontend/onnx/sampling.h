// Values between the elements of a tensor: sums over the elements around a coordinate, by weight.
#ifndef TG_FRONTEND_ONNX_SAMPLING_H_
#define TG_FRONTEND_ONNX_SAMPLING_H_

#include <span>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

enum class Interpolation { kNearest, kLinear, kCubic };

// What elements outside of an axis are.
enum class Border { kZeros, kEdge, kReflect };

// The elements of one axis that a sample is made of: [batch, points..., taps]. The axes of the
// points broadcast between the axes of a tensor.
struct Taps {
  Value places = nullptr;   // i32; not below 0, and below the extent where `inside` is null
  Value weights = nullptr;  // floats; null: 1
  Value inside = nullptr;   // bool; where it does not hold, the element is 0; null: it holds
};

// The taps of an axis of `extent` elements at these coordinates, floats [batch, points...], where
// element i lies at coordinate i. `aligned`: the axis ends at the centers of its outermost
// elements, not half an element beyond (which matters to kReflect and kEdge).
Taps TapsAt(GraphBuilder& g, Value coordinates, const Dim& extent, Interpolation interpolation,
            Border border, bool aligned);

// x: [batch, channels, axes...]. The weighted elements, combined over all taps by `reduce` (kAdd:
// interpolated): [batch, points..., channels]. In f32 or f64 where there are weights.
Value Sample(GraphBuilder& g, Value x, std::span<const Taps> axes, Op reduce = Op::kAdd);

// f32 for the floats of fewer bits and for integers.
Value AsWideFloat(GraphBuilder& g, Value x);

// `vector` along this axis of a tensor of `rank` axes.
Value AlongAxis(GraphBuilder& g, Value vector, size_t rank, size_t axis);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_SAMPLING_H_
