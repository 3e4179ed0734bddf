// The module that a tool works on, in whichever format it is written.
#ifndef TG_TOOLS_DRIVER_INPUT_H_
#define TG_TOOLS_DRIVER_INPUT_H_

#include <memory>
#include <string>
#include <string_view>

#include "frontend/onnx/import.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"
#include "tools/driver/flags.h"

namespace tg {

// --input-format: "auto", "uop", "tinygrad" or "onnx". `format` holds the default.
void AddInputFormat(Flags& flags, std::string* format);

// Whether ReadInput would read an ONNX model.
bool IsOnnxInput(std::string_view bytes, std::string_view format);

// The module that `text`, read from `path` ("-": standard input), means; verified. Null, with
// errors, where it is none. `text` must outlive `diags`.
std::unique_ptr<Module> ReadInput(std::string_view text, const std::string& path,
                                  std::string_view format, Diagnostics& diags,
                                  const OnnxImportOptions& onnx = {});

}  // namespace tg

#endif  // TG_TOOLS_DRIVER_INPUT_H_
