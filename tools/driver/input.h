// --input-format of tools that read a module.
#ifndef TG_TOOLS_DRIVER_INPUT_H_
#define TG_TOOLS_DRIVER_INPUT_H_

#include <string>

#include "model/read.h"
#include "tools/driver/flags.h"

namespace tg::driver {

// Adds --input-format: "auto", "uop", "tinygrad", "onnx" or "gguf". `format` holds the default.
void AddInputFormat(Flags& flags, std::string* format);

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_INPUT_H_
