// The inputs and outputs that an ONNX model declares, read without importing the model.
#ifndef TG_FRONTEND_ONNX_SIGNATURE_H_
#define TG_FRONTEND_ONNX_SIGNATURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dtype.h"

namespace tg::onnx {

struct OnnxDimension {
  std::optional<int64_t> size;  // none: the file leaves it open
  // The name by which options refer to an open dimension of an input ("input.axis" if it has no
  // name). "?" for an open extent of an output that has no name.
  std::string name;

  std::string ToString() const { return size ? std::to_string(*size) : name; }
};

struct OnnxValueInfo {
  std::string name;
  bool is_tensor = false;        // no sequence, map or sparse tensor
  std::optional<Scalar> scalar;  // none: no tensor, or a type that the IR lacks
  std::string type;              // "f32", or ONNX's name of a type that the IR lacks
  std::optional<std::vector<OnnxDimension>> shape;  // none: of unknown rank

  std::string ToString() const;  // "f32[batch, 3]"
};

struct OnnxSignature {
  std::vector<OnnxValueInfo> inputs;  // those with initializers left out
  std::vector<OnnxValueInfo> outputs;
  std::vector<std::string> values;  // that nodes compute

  // Whether this may be the name of a size that depends on data: "VALUE.AXIS", or the symbol of it.
  bool MayBeDataSize(std::string_view name) const;
};

absl::StatusOr<OnnxSignature> ReadOnnxSignature(std::string_view bytes);

// The name by which options call dimension `axis` of an input (ImportOnnx).
std::string OnnxDimensionName(std::string_view param, std::string_view input, size_t axis);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_SIGNATURE_H_
