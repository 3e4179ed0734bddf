#include "tools/driver/input.h"

namespace tg::driver {

void AddInputFormat(Flags& flags, std::string* format) {
  flags.Choice(
      "input-format", {"auto", "uop", "tinygrad", "onnx", "gguf"}, format,
      "what is read: tg's text, what print(uop) gives in tinygrad, an ONNX model, or a text model "
      "in a GGUF file; auto: the file's beginning or the ending .onnx says it");
}

}  // namespace tg::driver
