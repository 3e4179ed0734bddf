// Conversions between the types of ONNX, of which the IR lacks some.
#ifndef TG_FRONTEND_ONNX_CASTS_H_
#define TG_FRONTEND_ONNX_CASTS_H_

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// How a number between two powers of two becomes a float8e8m0; what is halfway goes up.
enum class PowerRounding { kUp, kDown, kNearest };

// `x`, a value of type `from`, as type `to`, in the scalar that holds it (ScalarFor). Floats of
// eight bits saturate or become NaN or infinite beyond their range, as told.
Value CastTo(GraphBuilder& g, Value x, ElementType from, ElementType to, bool saturates,
             PowerRounding power_rounding = PowerRounding::kUp);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_CASTS_H_
