// The model that a caller gives: a file or bytes, with what tg.h's options say about it.
#ifndef TG_CAPI_INPUT_H_
#define TG_CAPI_INPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frontend/onnx/import_onnx.h"
#include "include/tg/tg.h"
#include "model/source.h"
#include "runtime/device/device_handle.h"
#include "runtime/devices/devices.h"
#include "runtime/io/host_tensor.h"

namespace tg::capi {

// A tensor in the caller's memory, during the call that it is given to.
struct TensorView {
  std::string_view name;
  runtime::ElementType type = runtime::ElementType::kF32;
  uint32_t rank = 0;
  std::array<int64_t, TG_MAX_RANK> extents = {};
  std::byte* data = nullptr;
  size_t bytes = 0;
  bool lend = false;
  void* cl_mem = nullptr;

  std::span<const int64_t> shape() const { return {extents.data(), rank}; }
  runtime::DeviceHandle device() const { return {cl_mem}; }
  // InvalidArgument unless there is data, of as many bytes as type and shape say, or a cl_mem.
  absl::Status Check() const;
  // Checks, and copies the elements, which the host has.
  absl::StatusOr<runtime::HostTensor> Copy() const;
};

// `index` is for messages: the number of a tensor in a list.
absl::StatusOr<TensorView> ReadTensor(const tg_tensor& tensor, size_t index);
// The elements of an array of tensors, which all have the size of the first one.
absl::StatusOr<std::vector<TensorView>> ReadTensors(const tg_tensor* tensors, size_t count,
                                                    std::string_view what);

runtime::ElementType ElementTypeOf(tg_type type);
tg_type TypeOf(runtime::ElementType type);

struct LoadOptions {
  std::string device, format = "auto", path;
  runtime::OpenClHandles open_cl;
  onnx::OnnxImportOptions onnx;  // without contents of inputs
  std::vector<TensorView> inputs;
  bool profile = false, float16 = false;
  // Cancelled if the caller's function asks for it.
  std::function<absl::Status(const char* step, double done)> progress;
};
absl::StatusOr<LoadOptions> ReadOptions(const tg_load_options* options);

absl::StatusOr<model::Source> OpenSource(const char* path);
absl::StatusOr<model::Source> OpenSource(const void* data, size_t bytes,
                                         const LoadOptions& options);

}  // namespace tg::capi

#endif  // TG_CAPI_INPUT_H_
