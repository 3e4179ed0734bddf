#include "capi/input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "capi/structs.h"
#include "frontend/onnx/signature.h"
#include "ir/interpret/host_buffer.h"
#include "runtime/artifact/artifact_file.h"
#include "runtime/session/tensors.h"
#include "tools/driver/input.h"
#include "tools/driver/model_sizes.h"

namespace tg::capi {
namespace {

// Inputs that determine shapes or axes have fewer elements.
constexpr size_t kMaxKnownInput = 4096;

absl::Status ReadSizes(const char* const* names, const int64_t* values, size_t count,
                       std::string_view what, std::map<std::string, int64_t, std::less<>>& sizes) {
  if (count > 0 && (names == nullptr || values == nullptr)) {
    return InvalidArgument("the list of ", what, " is null");
  }
  for (size_t i = 0; i < count; ++i) {
    if (names[i] == nullptr) return InvalidArgument("name ", i, " of ", what, " is null");
    if (values[i] < 1) {
      return InvalidArgument(what, " of ", names[i], ": ", values[i], ", which is less than 1");
    }
    sizes[names[i]] = values[i];
  }
  return absl::OkStatus();
}

// What an ONNX model is told of the inputs that it will be given.
absl::StatusOr<onnx::OnnxImportOptions> ImportOptions(const Input& input,
                                                      const LoadOptions& options) {
  onnx::OnnxImportOptions import = options.onnx;
  const absl::StatusOr<onnx::OnnxSignature> signature = onnx::ReadOnnxSignature(input.bytes());
  // What is wrong with a damaged model is an error of its import.
  if (!signature.ok()) return import;
  TG_RETURN_IF_ERROR(
      driver::CheckDimensions(*signature, import.sizes, import.max_sizes, "size", "greatest size"));
  for (const TensorView& tensor : options.inputs) {
    const std::string name(tensor.name);
    import.input_shapes[name].assign(tensor.shape().begin(), tensor.shape().end());
    if (tensor.data == nullptr) continue;
    const auto declared = std::find_if(signature->inputs.begin(), signature->inputs.end(),
                                       [&](const auto& i) { return i.name == tensor.name; });
    // An unknown name is an error of the import.
    if (declared == signature->inputs.end() || !declared->scalar) continue;
    TG_ASSIGN_OR_RETURN(const runtime::HostTensor contents, tensor.Copy());
    if (runtime::ScalarOf(tensor.type) != *declared->scalar) {
      return InvalidArgument("input '", tensor.name, "' is of type ", declared->type, ", not ",
                             runtime::ElementTypeName(tensor.type));
    }
    const size_t elements = contents.data.size() / runtime::ElementSize(contents.type);
    if (elements > kMaxKnownInput) continue;
    std::vector<int64_t>& bits = import.input_values[name];
    for (size_t i = 0; i < elements; ++i) {
      bits.push_back(interpret::LoadBits(*declared->scalar, contents.data.data(), i));
    }
  }
  return import;
}

}  // namespace

runtime::ElementType ElementTypeOf(tg_type type) {
  return static_cast<runtime::ElementType>(type - 1);
}
tg_type TypeOf(runtime::ElementType type) {
  return static_cast<tg_type>(static_cast<int>(type) + 1);
}
static_assert(static_cast<int>(runtime::ElementType::kBool) + 1 == TG_BOOL);
static_assert(static_cast<int>(runtime::ElementType::kU64) + 1 == TG_U64);
static_assert(static_cast<int>(runtime::ElementType::kF32) + 1 == TG_F32);
static_assert(runtime::kNumElementTypes == TG_F8E5M2);

absl::Status TensorView::Check() const {
  const std::optional<size_t> needed = runtime::NumBytes(type, shape());
  if (!needed || *needed != bytes) {
    return InvalidArgument("@", name, ": ", bytes, " bytes are given for ",
                           runtime::TypeAndShape(type, shape()));
  }
  if (data == nullptr && bytes > 0) return InvalidArgument("@", name, ": its data is null");
  return absl::OkStatus();
}

absl::StatusOr<runtime::HostTensor> TensorView::Copy() const {
  TG_RETURN_IF_ERROR(Check());
  runtime::HostTensor tensor{type, {shape().begin(), shape().end()}, {data, data + bytes}};
  if (type == runtime::ElementType::kBool) runtime::NormalizeBools(tensor.data);
  return tensor;
}

absl::StatusOr<TensorView> ReadTensor(const tg_tensor& tensor, size_t index) {
  if (tensor.name == nullptr) return InvalidArgument("the name of tensor ", index, " is null");
  if (tensor.type <= TG_TYPE_NONE || tensor.type > TG_F8E5M2) {
    return InvalidArgument("@", tensor.name, ": there is no type ", tensor.type);
  }
  if (tensor.rank > TG_MAX_RANK) {
    return InvalidArgument("@", tensor.name, ": its rank is ", tensor.rank, ", above ",
                           TG_MAX_RANK);
  }
  TensorView view;
  view.name = tensor.name;
  view.type = ElementTypeOf(static_cast<tg_type>(tensor.type));
  view.rank = tensor.rank;
  std::copy_n(tensor.shape, tensor.rank, view.extents.begin());
  view.data = static_cast<std::byte*>(tensor.data);
  view.bytes = tensor.bytes;
  view.lend = tensor.lend != 0;
  return view;
}

absl::StatusOr<std::vector<TensorView>> ReadTensors(const tg_tensor* tensors, size_t count,
                                                    std::string_view what) {
  std::vector<TensorView> views;
  if (count == 0) return views;
  if (tensors == nullptr) return InvalidArgument("the list of ", what, " is null");
  const size_t stride = tensors->size;
  TG_RETURN_IF_ERROR(CheckSize(stride, "tg_tensor"));
  views.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto* element =
        reinterpret_cast<const tg_tensor*>(reinterpret_cast<const char*>(tensors) + i * stride);
    tg_tensor tensor;
    TG_RETURN_IF_ERROR(ReadStruct(element, "tg_tensor", tensor));
    if (tensor.size != stride) {
      return InvalidArgument("tensors of one list have the sizes ", stride, " and ", tensor.size);
    }
    TG_ASSIGN_OR_RETURN(TensorView view, ReadTensor(tensor, i));
    views.push_back(std::move(view));
  }
  return views;
}

absl::StatusOr<LoadOptions> ReadOptions(const tg_load_options* given) {
  tg_load_options o;
  TG_RETURN_IF_ERROR(ReadStruct(given, "tg_load_options", o));
  LoadOptions options;
  if (o.device != nullptr) options.device = o.device;
  if (o.path != nullptr) options.path = o.path;
  if (o.format != nullptr && *o.format != '\0') {
    options.format = o.format;
    const std::string_view known[] = {"auto", "uop", "tinygrad", "onnx", "gguf", "tgx"};
    if (std::find(std::begin(known), std::end(known), options.format) == std::end(known)) {
      return InvalidArgument("there is no format '", options.format,
                             "'; there are auto, uop, tinygrad, onnx, gguf, tgx");
    }
  }
  TG_RETURN_IF_ERROR(
      ReadSizes(o.size_names, o.size_values, o.num_sizes, "sizes", options.onnx.sizes));
  TG_RETURN_IF_ERROR(
      ReadSizes(o.max_names, o.max_values, o.num_maxes, "greatest sizes", options.onnx.max_sizes));
  TG_ASSIGN_OR_RETURN(options.inputs, ReadTensors(o.inputs, o.num_inputs, "inputs"));
  options.profile = o.profile != 0;
  options.float16 = o.float16 != 0;
  options.progress = [function = o.progress, context = o.progress_context](
                         const char* step, double done) -> absl::Status {
    if (function == nullptr || function(context, step, done) == 0) return absl::OkStatus();
    return absl::CancelledError(Cat("cancelled at step ", step));
  };
  return options;
}

MemoryFile::MemoryFile(int descriptor)
    : descriptor_(descriptor), path_(Cat("/proc/self/fd/", descriptor)) {}

MemoryFile::~MemoryFile() { close(descriptor_); }

absl::StatusOr<std::shared_ptr<MemoryFile>> MemoryFile::Create(std::string_view bytes) {
  const int descriptor = memfd_create("tg", MFD_CLOEXEC);
  if (descriptor < 0) return absl::ResourceExhaustedError("no memory for the bytes of a model");
  std::shared_ptr<MemoryFile> file(new MemoryFile(descriptor));
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written <= 0) return absl::ResourceExhaustedError("no memory for the bytes of a model");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return file;
}

namespace {

absl::StatusOr<Input> Map(Input input, const LoadOptions& options) {
  TG_ASSIGN_OR_RETURN(runtime::MappedFile mapped, runtime::MappedFile::Open(input.file));
  input.mapped = std::make_shared<const runtime::MappedFile>(std::move(mapped));
  input.is_artifact =
      options.format == "tgx" || (options.format == "auto" && artifact::IsArtifact(input.bytes()));
  return input;
}

}  // namespace

absl::StatusOr<Input> OpenInput(const char* path, const LoadOptions& options) {
  if (path == nullptr || *path == '\0') return InvalidArgument("no path is given");
  Input input;
  input.path = input.file = path;
  return Map(std::move(input), options);
}

absl::StatusOr<Input> OpenInput(const void* data, size_t bytes, const LoadOptions& options) {
  if (data == nullptr) return InvalidArgument("the pointer to the model is null");
  Input input;
  TG_ASSIGN_OR_RETURN(input.memory, MemoryFile::Create({static_cast<const char*>(data), bytes}));
  input.path = options.path.empty() ? "<memory>" : options.path;
  input.file = input.memory->path();
  return Map(std::move(input), options);
}

absl::Status StatusOf(const Diagnostics& diagnostics) {
  std::string text = diagnostics.ToString();
  while (text.ends_with('\n')) text.pop_back();
  return absl::InvalidArgumentError(text);
}

absl::StatusOr<std::unique_ptr<Module>> ReadModule(
    const Input& input, const LoadOptions& options,
    std::map<std::string, std::string, std::less<>>* names) {
  const std::string_view bytes = input.bytes();
  const bool is_onnx = driver::IsOnnxInput(bytes, input.path, options.format);
  onnx::OnnxImportOptions import;
  if (is_onnx) {
    TG_ASSIGN_OR_RETURN(import, ImportOptions(input, options));
  } else if (!options.onnx.sizes.empty() || !options.onnx.max_sizes.empty() ||
             !options.inputs.empty()) {
    return InvalidArgument(input.path, ": sizes and inputs are for ONNX models; the variables of ",
                           "other modules stay variables");
  }
  Diagnostics diagnostics;
  std::unique_ptr<Module> module =
      driver::ReadInput(bytes, input.path, options.format, diagnostics, import);
  if (module == nullptr) return StatusOf(diagnostics);
  if (input.memory != nullptr) {
    // Weights in the model's own bytes.
    const std::string base = input.path.substr(input.path.rfind('/') + 1);
    for (BufferDecl& buffer : module->buffers) {
      if (buffer.offset && (buffer.file == input.path || buffer.file == base)) {
        buffer.file = input.file;
      }
    }
  }
  if (!is_onnx || names == nullptr) return module;
  const absl::StatusOr<onnx::OnnxSignature> signature = onnx::ReadOnnxSignature(bytes);
  if (!signature.ok()) return module;
  for (const auto* list : {&signature->inputs, &signature->outputs}) {
    for (const onnx::OnnxValueInfo& value : *list) {
      const std::string symbol = onnx::OnnxSymbol(value.name);
      if (module->FindBuffer(symbol) != nullptr) names->emplace(symbol, value.name);
    }
  }
  return module;
}

}  // namespace tg::capi
