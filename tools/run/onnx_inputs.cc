#include "tools/run/onnx_inputs.h"

#include <algorithm>
#include <span>

#include "base/status.h"
#include "frontend/onnx/import_onnx.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/proto.h"
#include "frontend/onnx/signature.h"
#include "ir/interpret/host_buffer.h"
#include "passes/instrument/write_file.h"
#include "runtime/io/file.h"
#include "runtime/io/npy.h"
#include "runtime/media/tensors.h"
#include "runtime/session/given.h"
#include "runtime/session/tensors.h"
#include "tools/driver/model_sizes.h"
#include "tools/run/model_run.h"

namespace tg::run {

using runtime::HostTensor;

namespace {
// Inputs that determine shapes or axes have fewer elements.
constexpr size_t kMaxKnownInput = 4096;

// Any shape for a name that no input has: what is unknown is reported with the other names.
runtime::TensorForm FormOfInput(const onnx::OnnxSignature& model,
                                const onnx::OnnxImportOptions& options, std::string_view name) {
  runtime::TensorForm form;
  for (const onnx::OnnxValueInfo& input : model.inputs) {
    if (input.name != name) continue;
    if (input.scalar) form.type = runtime::ElementTypeOf(*input.scalar).value_or(form.type);
    if (!input.shape) continue;
    form.shape.emplace();
    for (const onnx::OnnxDimension& dim : *input.shape) {
      const auto size = options.sizes.find(dim.name);
      form.shape->push_back(dim.size                      ? *dim.size
                            : size != options.sizes.end() ? size->second
                                                          : runtime::TensorForm::kOpen);
    }
  }
  return form;
}

absl::StatusOr<HostTensor> ToHostTensor(const onnx::TensorProto& tensor) {
  TG_ASSIGN_OR_RETURN(std::vector<int64_t> bits, onnx::Decode(tensor));
  interpret::HostBuffer buffer;
  buffer.dtype = *onnx::ScalarFor(tensor.type);
  buffer.shape = tensor.dims;
  buffer.data = std::move(bits);
  return runtime::ToHostTensor(buffer);
}

// A value of the type in a file; several are the elements of a sequence.
absl::StatusOr<std::vector<HostTensor>> ReadValue(const std::string& path,
                                                  const onnx::TypeProto& type) {
  TG_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path));
  const auto failed = [&](const absl::Status& status) {
    return absl::Status(status.code(), Cat(path, ": ", std::string(status.message())));
  };
  const absl::StatusOr<std::vector<onnx::TensorProto>> protos = onnx::ParseValue(bytes, type);
  if (!protos.ok()) return failed(protos.status());
  std::vector<HostTensor> tensors;
  for (const onnx::TensorProto& proto : *protos) {
    absl::StatusOr<HostTensor> tensor = ToHostTensor(proto);
    if (!tensor.ok()) return failed(tensor.status());
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

// The values in a folder's files PREFIX_0.pb, PREFIX_1.pb, ..., which are of the types of `values`.
absl::StatusOr<std::vector<std::vector<HostTensor>>> ReadValues(
    const std::string& dir, const std::string& prefix, std::span<const onnx::ValueInfo> values) {
  std::vector<std::vector<HostTensor>> read;
  while (true) {
    const std::string path = Cat(dir, "/", prefix, "_", read.size(), ".pb");
    const onnx::TypeProto type =
        read.size() < values.size() ? values[read.size()].type : onnx::TypeProto();
    absl::StatusOr<std::vector<HostTensor>> value = ReadValue(path, type);
    if (absl::IsNotFound(value.status())) break;
    if (!value.ok()) return value.status();
    read.push_back(*std::move(value));
  }
  if (read.size() <= values.size()) return read;
  return InvalidArgument(dir, ": ", read.size(), " files ", prefix, "_N.pb, but the model has ",
                         values.size());
}

}  // namespace

absl::StatusOr<HostTensor> ReadOnnxTensor(const std::string& path) {
  onnx::TypeProto type;
  type.kind = onnx::TypeProto::Kind::kTensor;
  TG_ASSIGN_OR_RETURN(std::vector<HostTensor> tensors, ReadValue(path, type));
  return std::move(tensors[0]);
}

absl::Status WriteOnnxTensor(const std::string& path, const std::string& name,
                             const HostTensor& tensor) {
  onnx::TensorProto proto;
  proto.name = name;
  proto.type = onnx::TypeFor(runtime::ScalarOf(tensor.type));
  proto.dims = tensor.shape;
  proto.raw = {reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()};
  return instrument::WriteFile(path, onnx::SerializeTensor(proto));
}

std::string ModelRun::SymbolOf(const std::string& name) const {
  // A compiled model has the symbols of what was compiled, whichever that was.
  const bool is_symbol = is_artifact_ && (module_->FindBuffer(name) || module_->FindVar(name));
  return (is_onnx_ || is_artifact_) && !is_symbol ? onnx::OnnxSymbol(name) : name;
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
      for (size_t i = 0; i < count; ++i)
        bits.push_back(interpret::LoadBits(scalar, tensor.data.data(), i));
    }
    inputs_[onnx::OnnxSymbol(name)] = std::move(tensor);
  };
  // A file that is not a model is reported when it is read as one.
  const absl::StatusOr<onnx::OnnxSignature> declared = onnx::ReadOnnxSignature(text_);
  if (!declared.ok()) return absl::OkStatus();
  TG_RETURN_IF_ERROR(
      model::CheckDimensions(*declared, flags_.vars, flags_.max_sizes, "--var", "--max"));
  for (const NamedFile& input : flags_.inputs) {
    absl::StatusOr<HostTensor> tensor;
    if (input.media.kind != runtime::MediaKind::kNone) {
      tensor = runtime::ReadMedia(input.media, FormOfInput(*declared, onnx_, input.name));
    } else if (input.file.ends_with(".pb")) {
      tensor = ReadOnnxTensor(input.file);
    } else {
      tensor = runtime::ReadNpy(input.file);
    }
    if (!tensor.ok()) {
      return absl::Status(tensor.status().code(),
                          Cat("input @", input.name, ": ", std::string(tensor.status().message())));
    }
    if (inputs_.count(onnx::OnnxSymbol(input.name))) {
      return InvalidArgument("input @", input.name, " is given twice");
    }
    give(input.name, *std::move(tensor));
  }
  if (flags_.test_data.empty()) return absl::OkStatus();
  const absl::StatusOr<onnx::Model> model = onnx::ParseModel(text_);
  // A file that is not a model is reported when it is read as one.
  if (!model.ok()) return absl::OkStatus();
  std::vector<onnx::ValueInfo> values = model->graph.inputs;
  std::erase_if(values, [&](const onnx::ValueInfo& input) {
    const auto& weights = model->graph.initializers;
    return std::any_of(weights.begin(), weights.end(),
                       [&](const onnx::TensorProto& t) { return t.name == input.name; });
  });
  TG_ASSIGN_OR_RETURN(auto given, ReadValues(flags_.test_data, "input", values));
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string name(values[i].name);
    const bool is_sequence = values[i].type.kind == onnx::TypeProto::Kind::kSequence;
    if (is_sequence && given[i].empty()) onnx_.empty_sequences.insert(name);
    for (size_t k = 0; k < given[i].size(); ++k) {
      give(is_sequence ? Cat(name, ".", k) : name, std::move(given[i][k]));
    }
  }
  TG_ASSIGN_OR_RETURN(auto expected, ReadValues(flags_.test_data, "output", model->graph.outputs));
  if (expected.empty()) {
    return InvalidArgument(flags_.test_data, ": there is no output_0.pb");
  }
  for (std::vector<HostTensor>& value : expected) {
    for (HostTensor& tensor : value) expected_.push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

}  // namespace tg::run
