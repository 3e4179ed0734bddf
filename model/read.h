// Reads models of every format that is not compiled: tg's text, graphs that tinygrad prints, ONNX
// and GGUF.
#ifndef TG_MODEL_READ_H_
#define TG_MODEL_READ_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frontend/onnx/import_onnx.h"
#include "frontend/onnx/signature.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"
#include "model/source.h"

namespace tg::model {

// Whether ReadInput would treat the bytes as an ONNX model. `format` is "auto", by which a file's
// beginning or the ending .onnx says it, or "uop", "tinygrad", "onnx" or "gguf".
bool IsOnnxInput(std::string_view bytes, std::string_view path, std::string_view format);

// Whether ReadInput would treat the bytes as a GGUF file.
bool IsGgufInput(std::string_view bytes, std::string_view format);

// Reads and verifies the module in `text`, which was read from `path` ("-": standard input).
// Returns null after errors. `text` must outlive `diags`.
std::unique_ptr<Module> ReadInput(std::string_view text, const std::string& path,
                                  std::string_view format, Diagnostics& diags,
                                  const onnx::OnnxImportOptions& onnx = {});

using SizeMap = std::map<std::string, int64_t, std::less<>>;

// Checks that sizes and greatest sizes are those of open dimensions of the inputs; any other name
// is misspelt. The last two are what messages call them.
absl::Status CheckDimensions(const onnx::OnnxSignature& model, const SizeMap& sizes,
                             const SizeMap& max_sizes, std::string_view size_name = "size",
                             std::string_view max_name = "greatest size");

struct ReadOptions {
  std::string format = "auto";  // as for IsOnnxInput
  // Sizes, greatest sizes, shapes and contents of inputs, for ONNX models alone.
  onnx::OnnxImportOptions onnx = {};
};

struct ReadModel {
  std::unique_ptr<Module> module;
  // The names that an ONNX model has for inputs and outputs, by their names in the module.
  std::map<std::string, std::string, std::less<>> names;
};

// Errors have all lines of the diagnostics. The module's weights are read from the source's file,
// when a session needs them.
absl::StatusOr<ReadModel> Read(const Source& source, const ReadOptions& options = {});

// The status of what went wrong, with all lines that a tool would print.
absl::Status StatusOf(const Diagnostics& diagnostics);

}  // namespace tg::model

#endif  // TG_MODEL_READ_H_
