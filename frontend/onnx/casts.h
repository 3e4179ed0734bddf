// Conversions between the types of ONNX, of which the IR lacks some.
#ifndef TG_FRONTEND_ONNX_CASTS_H_
#define TG_FRONTEND_ONNX_CASTS_H_

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// How a number between two powers of two is rounded to float8e8m0; kNearest rounds halves up.
enum class PowerRounding { kUp, kDown, kNearest };

// Converts `x` from type `from` to type `to`; both are held in the scalars of ScalarFor. Beyond the
// range of an 8-bit float, the result saturates if `saturates`, else it is infinite or NaN.
Value CastTo(GraphBuilder& g, Value x, ElementType from, ElementType to, bool saturates,
             PowerRounding power_rounding = PowerRounding::kUp);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_CASTS_H_
