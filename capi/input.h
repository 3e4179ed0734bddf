// The model that a caller gives: a file or bytes, with what tg.h's options say about it.
#ifndef TG_CAPI_INPUT_H_
#define TG_CAPI_INPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frontend/onnx/import_onnx.h"
#include "include/tg/tg.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"
#include "runtime/io/file.h"
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

  std::span<const int64_t> shape() const { return {extents.data(), rank}; }
  // InvalidArgument unless there is data, of as many bytes as type and shape say.
  absl::Status Check() const;
  // Checks, and copies the elements.
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
  onnx::OnnxImportOptions onnx;  // without contents of inputs
  std::vector<TensorView> inputs;
  bool profile = false, float16 = false;
  // Cancelled if the caller's function asks for it.
  std::function<absl::Status(const char* step, double done)> progress;
};
absl::StatusOr<LoadOptions> ReadOptions(const tg_load_options* options);

// Bytes as a file without a name, which exists as long as this object.
class MemoryFile {
 public:
  static absl::StatusOr<std::shared_ptr<MemoryFile>> Create(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit MemoryFile(int descriptor);
  const int descriptor_;
  const std::string path_;
};

struct Input {
  std::string path;                    // for messages, and for files that the model names
  std::string file;                    // where the bytes are: `path`, or that of `memory`
  std::shared_ptr<MemoryFile> memory;  // null: `file` is the caller's
  std::shared_ptr<const runtime::MappedFile> mapped;
  std::string_view bytes() const { return mapped->bytes(); }
  bool is_artifact = false;
};
absl::StatusOr<Input> OpenInput(const char* path, const LoadOptions& options);
absl::StatusOr<Input> OpenInput(const void* data, size_t bytes, const LoadOptions& options);

// Reads and verifies a module of any format but .tgx. `names` gets the names in an ONNX model of
// inputs and outputs, by their names in the module. Errors have all lines of the diagnostics.
absl::StatusOr<std::unique_ptr<Module>> ReadModule(
    const Input& input, const LoadOptions& options,
    std::map<std::string, std::string, std::less<>>* names);

// The status of what went wrong, with all lines that a tool would print.
absl::Status StatusOf(const Diagnostics& diagnostics);

}  // namespace tg::capi

#endif  // TG_CAPI_INPUT_H_
