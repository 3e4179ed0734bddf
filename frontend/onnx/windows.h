// The attributes that convolutions and pools share.
#ifndef TG_FRONTEND_ONNX_WINDOWS_H_
#define TG_FRONTEND_ONNX_WINDOWS_H_

#include <optional>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// The extents of a convolution's weight from axis 2 on. If one is symbolic, returns nullopt and
// records an error.
std::optional<Ints> KernelOf(NodeContext& c, Value weight);

// Strides, dilations and pads for this kernel over axes 2 and on of x, with auto_pad resolved. If
// they do not fit, returns nullopt and records an error.
std::optional<GraphBuilder::Window> WindowOf(NodeContext& c, Value x, const Ints& kernel);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_WINDOWS_H_
