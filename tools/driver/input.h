// --input-format and --allow of tools that read a module.
#ifndef TG_TOOLS_DRIVER_INPUT_H_
#define TG_TOOLS_DRIVER_INPUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"
#include "model/read.h"
#include "tools/driver/flags.h"

namespace tg::driver {

// Adds --input-format: "auto", "uop", "tinygrad", "onnx" or "gguf". `format` holds the default.
void AddInputFormat(Flags& flags, std::string* format);

// --allow=FLAG,...: more flags for a module.
class AllowedFlags {
 public:
  void AddTo(Flags& flags);
  // An unknown name is a usage error.
  absl::Status AddTo(Module& module) const;

 private:
  std::vector<std::string> names_;
};

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_INPUT_H_
