// Quantized numbers: an integer or a small float q means (q - zero point) * scale.
#ifndef TG_FRONTEND_ONNX_QUANTIZATION_H_
#define TG_FRONTEND_ONNX_QUANTIZATION_H_

#include <cstdint>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// A scale (or zero point) as a value that broadcasts to x. `scale` has one number for all of x, one
// per element of `axis`, or, if block_size > 0, one per block_size elements of `axis`.
Value ScaleFor(GraphBuilder& g, Value x, Value scale, int64_t axis, int64_t block_size);

// Converts y + zero to `type`, for a float `y`. For an integer type, y is rounded to nearest even
// and the sum is clamped; 8-bit floats round as CastTo does. `zero` may be null; its scalar type is
// ScalarFor(type).
Value RoundToType(GraphBuilder& g, Value y, Value zero, ElementType type, bool saturates = true);

// (x - zero) * scale in f32. `zero` may be null; x, zero and scale broadcast.
Value Dequantize(GraphBuilder& g, Value x, Value scale, Value zero);

// x quantized to u8, with a scale and a zero point (scalars) for which 0 and all elements of x are
// in range.
struct DynamicQuantization {
  Value codes = nullptr, scale = nullptr, zero = nullptr;
};
DynamicQuantization QuantizeDynamically(GraphBuilder& g, Value x);

// x - zero in i32, the factors of quantized products; `zero` may be null.
Value Centred(GraphBuilder& g, Value x, Value zero);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_QUANTIZATION_H_
