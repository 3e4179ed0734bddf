// Reads the module that a tool works on, in any supported format.
#ifndef TG_TOOLS_DRIVER_INPUT_H_
#define TG_TOOLS_DRIVER_INPUT_H_

#include <memory>
#include <string>
#include <string_view>

#include "frontend/onnx/import_onnx.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"
#include "tools/driver/flags.h"

namespace tg::driver {

// Adds --input-format: "auto", "uop", "tinygrad", "onnx" or "gguf". `format` holds the default.
void AddInputFormat(Flags& flags, std::string* format);

// Whether ReadInput would treat the bytes as an ONNX model.
bool IsOnnxInput(std::string_view bytes, std::string_view path, std::string_view format);

// Whether ReadInput would treat the bytes as a GGUF file.
bool IsGgufInput(std::string_view bytes, std::string_view format);

// Reads and verifies the module in `text`, which was read from `path` ("-": standard input).
// Returns null after errors. `text` must outlive `diags`.
std::unique_ptr<Module> ReadInput(std::string_view text, const std::string& path,
                                  std::string_view format, Diagnostics& diags,
                                  const onnx::OnnxImportOptions& onnx = {});

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_INPUT_H_
