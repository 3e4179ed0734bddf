#include "tools/driver/input.h"

#include "absl/strings/str_cat.h"
#include "ir/module_flags.h"

namespace tg::driver {

void AddInputFormat(Flags& flags, std::string* format) {
  flags.Choice(
      "input-format", {"auto", "uop", "tinygrad", "onnx", "gguf"}, format,
      "what is read: tg's text, what print(uop) gives in tinygrad, an ONNX model, or a text model "
      "in a GGUF file; auto: the file's beginning or the ending .onnx says it");
}

void AllowedFlags::AddTo(Flags& flags) {
  flags.List("allow", "FLAG,...", &names_,
             "add flags to the module, which say what floats may do: --allow=tf32 (docs/ops.md, "
             "module flags)");
}

absl::Status AllowedFlags::AddTo(Module& module) const {
  for (const std::string& name : names_) {
    if (module.flags.Add(name)) continue;
    std::string known;
    for (const ModuleFlagInfo& flag : kModuleFlags) {
      absl::StrAppend(&known, known.empty() ? "" : ", ", std::string(flag.text));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--allow: there is no flag ", name, "; there are ", known));
  }
  return absl::OkStatus();
}

}  // namespace tg::driver
