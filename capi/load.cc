#include "capi/load.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "capi/threads.h"
#include "frontend/onnx/signature.h"
#include "ir/interpret/host_buffer.h"
#include "runtime/session/tensors.h"
#include "tools/driver/listing.h"

namespace tg::capi {
namespace {

// Inputs that determine shapes or axes have fewer elements.
constexpr size_t kMaxKnownInput = 4096;

// What a model is told of the inputs that it will be given.
absl::Status AddInputs(const model::Source& source, const LoadOptions& options,
                       onnx::OnnxImportOptions& import) {
  for (const TensorView& tensor : options.inputs) {
    import.input_shapes[std::string(tensor.name)].assign(tensor.shape().begin(),
                                                         tensor.shape().end());
  }
  const bool is_onnx = model::IsOnnxInput(source.bytes(), source.path, options.format);
  // What is wrong with a damaged model is an error of its import.
  const absl::StatusOr<onnx::OnnxSignature> signature =
      is_onnx ? onnx::ReadOnnxSignature(source.bytes()) : absl::NotFoundError("not an ONNX model");
  if (!signature.ok()) return absl::OkStatus();
  for (const TensorView& tensor : options.inputs) {
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
    std::vector<int64_t>& bits = import.input_values[std::string(tensor.name)];
    for (size_t i = 0; i < elements; ++i) {
      bits.push_back(interpret::LoadBits(*declared->scalar, contents.data.data(), i));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PassProgress::BeforePass(const passes::PassRun& run, const Module&) {
  return options_.progress(
      "passes", static_cast<double>(run.index) / static_cast<double>(run.pipeline.size()));
}

absl::StatusOr<model::OpenOptions> OpenOptionsFor(const model::Source& source,
                                                  const LoadOptions& options,
                                                  PassProgress& progress) {
  model::OpenOptions open;
  const std::string texts[] = {options.device};
  TG_ASSIGN_OR_RETURN(open.devices, runtime::ParseDeviceRequest(texts));
  if (options.open_cl.context != nullptr || options.open_cl.queue != nullptr) {
    TG_ASSIGN_OR_RETURN(open.devices.opened,
                        runtime::AdoptContext(options.open_cl, options.device, options.profile));
  }
  // Times are of one plan.
  open.devices.specialize = !options.profile;
  open.time_kernels = options.profile;
  open.float16 = options.float16;
  open.read.format = options.format;
  open.read.onnx = options.onnx;
  TG_RETURN_IF_ERROR(AddInputs(source, options, open.read.onnx));
  open.passes.observer = &progress;
  open.passes.jobs = Threads();
  open.on_compiled = [&options](const Module&, runtime::DeviceSessionOptions&) {
    return options.progress("kernels", 0);
  };
  return open;
}

absl::Status CompileToFile(const model::Source& source, const LoadOptions& options,
                           const std::string& output) {
  TG_RETURN_IF_ERROR(options.progress("read", 0));
  PassProgress progress(options);
  TG_ASSIGN_OR_RETURN(const model::OpenOptions open, OpenOptionsFor(source, options, progress));
  return model::Compile(source, open, Cat("libtg ", driver::kVersion), output);
}

}  // namespace tg::capi
