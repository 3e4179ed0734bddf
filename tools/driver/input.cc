#include "tools/driver/input.h"

#include "frontend/file_kind.h"
#include "frontend/onnx/import_onnx.h"
#include "frontend/tinygrad/import_tinygrad.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"

namespace tg {

void AddInputFormat(Flags& flags, std::string* format) {
  flags.Choice(
      "input-format", {"auto", "uop", "tinygrad", "onnx"}, format,
      "what is read: tg's text, what print(uop) gives in tinygrad, or an ONNX model; auto: "
      "the file's beginning or the ending .onnx says it");
}

bool IsOnnxInput(std::string_view bytes, std::string_view path, std::string_view format) {
  if (format != "auto") return format == "onnx";
  // A damaged model is still one, unless it is another kind of file.
  return IsOnnxModel(bytes) || (path.ends_with(".onnx") && !KindOfFile(bytes));
}

std::unique_ptr<Module> ReadInput(std::string_view text, const std::string& path,
                                  std::string_view format, Diagnostics& diags,
                                  const OnnxImportOptions& onnx) {
  const std::string name = path == "-" ? "<stdin>" : path;
  if (IsOnnxInput(text, path, format)) {
    absl::StatusOr<std::unique_ptr<Module>> imported = ImportOnnx(text, name, onnx);
    if (!imported.ok()) {
      diags.Error({}, std::string(imported.status().message()));
      return nullptr;
    }
    VerifyModule(**imported, diags);
    return diags.has_errors() ? nullptr : *std::move(imported);
  }
  if (const FileKind* kind = KindOfFile(text)) {
    const std::string_view advice = kind->advice.empty()
                                        ? "tg reads modules, ONNX models, and what tinygrad prints"
                                        : kind->advice;
    diags.SetSource({}, name);
    diags.Error({}, "this is " + std::string(kind->name) + ", not the text of a module; " +
                        std::string(advice));
    return nullptr;
  }
  const bool tinygrad = format == "tinygrad" || (format == "auto" && IsTinygradText(text));
  std::unique_ptr<Module> module =
      tinygrad ? ImportTinygrad(text, name, diags) : ParseModule(text, name, diags);
  if (module && tinygrad) VerifyModule(*module, diags);
  if (module && !tinygrad) VerifyParsedModule(*module, diags);
  return diags.has_errors() ? nullptr : std::move(module);
}

}  // namespace tg
