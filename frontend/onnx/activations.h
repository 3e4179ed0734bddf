// Activation functions that operators name in an attribute.
#ifndef TG_FRONTEND_ONNX_ACTIVATIONS_H_
#define TG_FRONTEND_ONNX_ACTIVATIONS_H_

#include <optional>
#include <string_view>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// The number of parameters of a function: 0, 1 (alpha) or 2 (alpha, beta). None for an unknown
// name.
std::optional<int> NumActivationParameters(std::string_view name);

// The function of this name (in any case), with the defaults of the operator of the same name.
Value Activate(GraphBuilder& g, std::string_view name, Value x, std::optional<double> alpha = {},
               std::optional<double> beta = {});

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_ACTIVATIONS_H_
