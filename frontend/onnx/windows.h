// The attributes that convolutions and pools share.
#ifndef TG_FRONTEND_ONNX_WINDOWS_H_
#define TG_FRONTEND_ONNX_WINDOWS_H_

#include <optional>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// The extents of a convolution's weight from axis 2 on; none, and an error, where they are unknown.
std::optional<Ints> KernelOf(NodeContext& c, Value weight);

// Strides, dilations and pads for this kernel over the axes 2.. of x, with auto_pad resolved. None,
// and an error, where they do not fit.
std::optional<GraphBuilder::Window> WindowOf(NodeContext& c, Value x, const Ints& kernel);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_WINDOWS_H_
