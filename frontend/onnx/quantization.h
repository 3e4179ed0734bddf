// Quantized numbers: an integer or a small float q means (q - zero point) * scale.
#ifndef TG_FRONTEND_ONNX_QUANTIZATION_H_
#define TG_FRONTEND_ONNX_QUANTIZATION_H_

#include <cstdint>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// One scale (or zero point) for all of x, one for each element of `axis`, or, where block_size > 0,
// one for each block_size elements of `axis`: as a value that broadcasts to x.
Value ScaleFor(GraphBuilder& g, Value x, Value scale, int64_t axis, int64_t block_size);

// y + zero as `type`: of integers y is rounded to even and the sum is clamped, small floats round
// as CastTo does. `y` is a float; `zero` may be null, and is of the scalar that holds `type`.
Value RoundToType(GraphBuilder& g, Value y, Value zero, ElementType type, bool saturates = true);

// (x - zero) * scale in f32. `zero` may be null; x, zero and scale broadcast.
Value Dequantize(GraphBuilder& g, Value x, Value scale, Value zero);

// All of x in u8, by a scale and a zero point (scalars) under which 0 and all elements have codes.
struct DynamicQuantization {
  Value codes = nullptr, scale = nullptr, zero = nullptr;
};
DynamicQuantization QuantizeDynamically(GraphBuilder& g, Value x);

// x - zero in i32, whose products are summed; `zero` may be null.
Value Centred(GraphBuilder& g, Value x, Value zero);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_QUANTIZATION_H_
