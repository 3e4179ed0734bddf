#include "tools/run/onnx_inputs.h"

#include "frontend/onnx/proto.h"
#include "frontend/onnx/tensors.h"
#include "ir/interpret/host_buffer.h"
#include "runtime/base/status.h"
#include "runtime/io/file.h"
#include "runtime/io/npy.h"
#include "runtime/session/tensors.h"
#include "tools/run/model_run.h"

namespace tg {

using runtime::Cat;
using runtime::HostTensor;

namespace {
// Inputs that determine shapes or axes have fewer elements.
constexpr size_t kMaxKnownInput = 4096;
}  // namespace

absl::StatusOr<HostTensor> ReadOnnxTensor(const std::string& path) {
  TG_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path));
  const auto failed = [&](const absl::Status& status) {
    return absl::Status(status.code(), Cat(path, ": ", std::string(status.message())));
  };
  const absl::StatusOr<onnx::TensorProto> tensor = onnx::ParseTensor(bytes);
  if (!tensor.ok()) return failed(tensor.status());
  const absl::StatusOr<std::vector<int64_t>> bits = onnx::Decode(*tensor);
  if (!bits.ok()) return failed(bits.status());
  HostBuffer buffer;
  buffer.dtype = *onnx::ScalarFor(tensor->type);
  buffer.shape = tensor->dims;
  buffer.data = *bits;
  return runtime::ToHostTensor(buffer);
}

absl::StatusOr<std::vector<HostTensor>> ReadOnnxTensors(const std::string& dir,
                                                        const std::string& prefix) {
  std::vector<HostTensor> tensors;
  while (true) {
    const std::string path = Cat(dir, "/", prefix, "_", tensors.size(), ".pb");
    absl::StatusOr<HostTensor> tensor = ReadOnnxTensor(path);
    if (absl::IsNotFound(tensor.status())) return tensors;
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
}

std::string ModelRun::SymbolOf(const std::string& name) const {
  return is_onnx_ ? OnnxSymbol(name) : name;
}

absl::Status ModelRun::ReadOnnxInputs() {
  onnx_.max_sizes = flags_.max_sizes;
  for (const auto& [name, value] : flags_.vars) {
    if (!flags_.max_sizes.count(name)) onnx_.sizes[name] = value;
  }
  const auto give = [&](const std::string& name, HostTensor tensor) {
    onnx_.input_shapes[name] = tensor.shape;
    const Scalar scalar = runtime::ScalarOf(tensor.type);
    const size_t count = tensor.data.size() / static_cast<size_t>(ByteSize(scalar));
    if (count <= kMaxKnownInput) {
      std::vector<int64_t>& bits = onnx_.input_values[name];
      for (size_t i = 0; i < count; ++i) bits.push_back(LoadBits(scalar, tensor.data.data(), i));
    }
    inputs_[OnnxSymbol(name)] = std::move(tensor);
  };
  for (const NamedFile& input : flags_.inputs) {
    const bool is_proto = input.file.ends_with(".pb");
    absl::StatusOr<HostTensor> tensor =
        is_proto ? ReadOnnxTensor(input.file) : runtime::ReadNpy(input.file);
    if (!tensor.ok()) {
      return absl::Status(tensor.status().code(),
                          Cat("input @", input.name, ": ", std::string(tensor.status().message())));
    }
    if (inputs_.count(OnnxSymbol(input.name))) {
      return runtime::InvalidArgument("input @", input.name, " is given twice");
    }
    give(input.name, *std::move(tensor));
  }
  if (flags_.test_data.empty()) return absl::OkStatus();
  TG_ASSIGN_OR_RETURN(std::vector<HostTensor> given, ReadOnnxTensors(flags_.test_data, "input"));
  TG_ASSIGN_OR_RETURN(expected_, ReadOnnxTensors(flags_.test_data, "output"));
  const absl::StatusOr<std::vector<std::string>> names = OnnxInputNames(text_);
  // A file that is not a model is reported when it is read as one.
  if (!names.ok()) return absl::OkStatus();
  if (given.size() > names->size()) {
    return runtime::InvalidArgument(flags_.test_data, ": ", given.size(),
                                    " inputs, but the model has ", names->size());
  }
  if (expected_.empty()) {
    return runtime::InvalidArgument(flags_.test_data, ": there is no output_0.pb");
  }
  for (size_t i = 0; i < given.size(); ++i) give((*names)[i], std::move(given[i]));
  return absl::OkStatus();
}

}  // namespace tg
