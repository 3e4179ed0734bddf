#include "tools/run/onnx_inputs.h"

#include "frontend/onnx/import.h"
#include "frontend/onnx/proto.h"
#include "frontend/onnx/tensors.h"
#include "ir/interpret/host_buffer.h"
#include "passes/instrument/write_file.h"
#include "runtime/base/status.h"
#include "runtime/io/file.h"
#include "runtime/io/npy.h"
#include "runtime/media/tensors.h"
#include "runtime/session/tensors.h"
#include "tools/run/model_run.h"

namespace tg {

using runtime::Cat;
using runtime::HostTensor;

namespace {
// Inputs that determine shapes or axes have fewer elements.
constexpr size_t kMaxKnownInput = 4096;

// Any shape for a name that no input has: what is unknown is reported with the other names.
runtime::TensorForm FormOfInput(std::span<const OnnxInput> inputs, std::string_view name) {
  runtime::TensorForm form;
  for (const OnnxInput& input : inputs) {
    if (input.name != name) continue;
    if (input.type) form.type = runtime::ElementTypeOf(*input.type).value_or(form.type);
    form.shape = input.shape;
  }
  return form;
}

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

absl::Status WriteOnnxTensor(const std::string& path, const std::string& name,
                             const HostTensor& tensor) {
  onnx::TensorProto proto;
  proto.name = name;
  proto.type = onnx::TypeFor(runtime::ScalarOf(tensor.type));
  proto.dims = tensor.shape;
  proto.raw = {reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()};
  return WriteFile(path, onnx::SerializeTensor(proto));
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
  // A file that is not a model is reported when it is read as one.
  const absl::StatusOr<std::vector<OnnxInput>> declared = OnnxInputs(text_, onnx_.sizes);
  if (!declared.ok()) return absl::OkStatus();
  for (const NamedFile& input : flags_.inputs) {
    absl::StatusOr<HostTensor> tensor;
    if (input.media.kind != runtime::MediaKind::kNone) {
      tensor = runtime::ReadMedia(input.media, FormOfInput(*declared, input.name));
    } else if (input.file.ends_with(".pb")) {
      tensor = ReadOnnxTensor(input.file);
    } else {
      tensor = runtime::ReadNpy(input.file);
    }
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
  if (given.size() > declared->size()) {
    return runtime::InvalidArgument(flags_.test_data, ": ", given.size(),
                                    " inputs, but the model has ", declared->size());
  }
  if (expected_.empty()) {
    return runtime::InvalidArgument(flags_.test_data, ": there is no output_0.pb");
  }
  for (size_t i = 0; i < given.size(); ++i) give((*declared)[i].name, std::move(given[i]));
  return absl::OkStatus();
}

}  // namespace tg
