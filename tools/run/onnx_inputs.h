// Reads tensors in ONNX's file format.
#ifndef TG_TOOLS_RUN_ONNX_INPUTS_H_
#define TG_TOOLS_RUN_ONNX_INPUTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"

namespace tg::run {

// Reads a file of one TensorProto. Elements of types that the IR lacks get the type that holds
// their values (frontend/onnx/onnx_tensors.h).
absl::StatusOr<runtime::HostTensor> ReadOnnxTensor(const std::string& path);

// Writes such a file, atomically.
absl::Status WriteOnnxTensor(const std::string& path, const std::string& name,
                             const runtime::HostTensor& tensor);

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_ONNX_INPUTS_H_
