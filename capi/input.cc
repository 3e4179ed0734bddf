#include "capi/input.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "capi/structs.h"
#include "runtime/session/tensors.h"

namespace tg::capi {
namespace {

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
  if (cl_mem != nullptr && data != nullptr) {
    return InvalidArgument("@", name, ": its elements are in a cl_mem, and its data is not null");
  }
  if (cl_mem != nullptr) return absl::OkStatus();
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
  if (data == nullptr && cl_mem != nullptr) return InvalidArgument("@", name, ": it has no data");
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
  view.cl_mem = tensor.cl_mem;
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
  options.open_cl = {o.cl_context, o.cl_queue};
  options.profile = o.profile != 0;
  options.float16 = o.float16 != 0;
  options.progress = [function = o.progress, context = o.progress_context](
                         const char* step, double done) -> absl::Status {
    if (function == nullptr || function(context, step, done) == 0) return absl::OkStatus();
    return absl::CancelledError(Cat("cancelled at step ", step));
  };
  return options;
}

absl::StatusOr<model::Source> OpenSource(const char* path) {
  if (path == nullptr || *path == '\0') return InvalidArgument("no path is given");
  return model::Source::File(path);
}

absl::StatusOr<model::Source> OpenSource(const void* data, size_t bytes,
                                         const LoadOptions& options) {
  if (data == nullptr) return InvalidArgument("the pointer to the model is null");
  return model::Source::Bytes({static_cast<const char*>(data), bytes}, options.path);
}

}  // namespace tg::capi
