// Tensors in ONNX's own files, and folders of them as its conformance tests keep them.
#ifndef TG_TOOLS_RUN_ONNX_INPUTS_H_
#define TG_TOOLS_RUN_ONNX_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"

namespace tg {

// A file of one TensorProto. Elements of types that the IR lacks become what their values are held
// in (frontend/onnx/tensors.h).
absl::StatusOr<runtime::HostTensor> ReadOnnxTensor(const std::string& path);

// DIR/PREFIX_0.pb, DIR/PREFIX_1.pb and so on, up to the first number that has no file.
absl::StatusOr<std::vector<runtime::HostTensor>> ReadOnnxTensors(const std::string& dir,
                                                                 const std::string& prefix);

}  // namespace tg

#endif  // TG_TOOLS_RUN_ONNX_INPUTS_H_
