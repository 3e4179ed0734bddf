// What an ONNX model says of its inputs and outputs, which needs no import.
#ifndef TG_FRONTEND_ONNX_SIGNATURE_H_
#define TG_FRONTEND_ONNX_SIGNATURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg {

struct OnnxValueInfo {
  std::string name;
  std::string type;  // "f32", or ONNX's name of a type that the IR lacks
  // Each a number, the name of a dimension ("input.axis" for one without a name), or "?" for an
  // extent of an output that the model does not tell.
  std::vector<std::string> dims;
  bool has_shape = false;
};

struct OnnxSignature {
  std::vector<OnnxValueInfo> inputs;  // those with initializers left out
  std::vector<OnnxValueInfo> outputs;
};

absl::StatusOr<OnnxSignature> ReadOnnxSignature(std::string_view bytes);

// The name by which options call dimension `axis` of an input (ImportOnnx).
std::string OnnxDimensionName(std::string_view param, std::string_view input, size_t axis);

}  // namespace tg

#endif  // TG_FRONTEND_ONNX_SIGNATURE_H_
