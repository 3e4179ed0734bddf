#include "tools/driver/input.h"

#include <map>

#include "frontend/file_kind.h"
#include "frontend/gguf/gguf.h"
#include "frontend/gguf/language_model.h"
#include "frontend/onnx/import_onnx.h"
#include "frontend/tinygrad/import_tinygrad.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"
#include "runtime/io/file.h"

namespace tg::driver {
namespace {

// The module of the model whose first file has these bytes.
absl::StatusOr<std::unique_ptr<Module>> ImportGguf(std::string_view bytes,
                                                   const std::string& path) {
  std::map<std::string, runtime::MappedFile> others;
  const auto open = [&](const std::string& name) -> absl::StatusOr<std::string_view> {
    if (name == path) return bytes;
    absl::StatusOr<runtime::MappedFile> file = runtime::MappedFile::Open(name);
    if (!file.ok()) return file.status();
    return others.emplace(name, *std::move(file)).first->second.bytes();
  };
  const absl::StatusOr<gguf::Model> model = gguf::ReadModel(path, open);
  if (!model.ok()) return model.status();
  absl::StatusOr<gguf::LanguageModel> built = gguf::BuildLanguageModel(*model, {});
  if (!built.ok()) return built.status();
  return std::move(built->module);
}

}  // namespace

void AddInputFormat(Flags& flags, std::string* format) {
  flags.Choice(
      "input-format", {"auto", "uop", "tinygrad", "onnx", "gguf"}, format,
      "what is read: tg's text, what print(uop) gives in tinygrad, an ONNX model, or a text model "
      "in a GGUF file; auto: the file's beginning or the ending .onnx says it");
}

bool IsOnnxInput(std::string_view bytes, std::string_view path, std::string_view format) {
  if (format != "auto") return format == "onnx";
  // A file that ends in .onnx counts as a model even if it is damaged, so that the error is about a
  // model, unless it is a known file of another kind.
  return onnx::IsOnnxModel(bytes) || (path.ends_with(".onnx") && !frontend::KindOfFile(bytes));
}

bool IsGgufInput(std::string_view bytes, std::string_view format) {
  return format == "auto" ? gguf::IsGguf(bytes) : format == "gguf";
}

std::unique_ptr<Module> ReadInput(std::string_view text, const std::string& path,
                                  std::string_view format, Diagnostics& diags,
                                  const onnx::OnnxImportOptions& onnx) {
  const std::string name = path == "-" ? "<stdin>" : path;
  const bool is_gguf = IsGgufInput(text, format);
  if (is_gguf || IsOnnxInput(text, path, format)) {
    absl::StatusOr<std::unique_ptr<Module>> imported =
        is_gguf ? ImportGguf(text, name) : onnx::ImportOnnx(text, name, onnx);
    if (!imported.ok()) {
      diags.Error({}, std::string(imported.status().message()));
      return nullptr;
    }
    // What a model holds is an error of the import, which names the node.
    if (!VerifyModule(**imported, diags)) {
      diags.Error({}, "this is a fault of tg; please report it with the model and the command");
    }
    return diags.has_errors() ? nullptr : *std::move(imported);
  }
  if (const frontend::FileKind* kind = frontend::KindOfFile(text)) {
    const std::string_view advice = kind->advice.empty()
                                        ? "tg reads modules, ONNX models, and what tinygrad prints"
                                        : kind->advice;
    diags.SetSource({}, name);
    diags.Error({}, "this is " + std::string(kind->name) + ", not the text of a module; " +
                        std::string(advice));
    return nullptr;
  }
  const bool tinygrad =
      format == "tinygrad" || (format == "auto" && tinygrad::IsTinygradText(text));
  std::unique_ptr<Module> module =
      tinygrad ? tinygrad::ImportTinygrad(text, name, diags) : ParseModule(text, name, diags);
  if (module && tinygrad) VerifyModule(*module, diags);
  if (module && !tinygrad) VerifyParsedModule(*module, diags);
  return diags.has_errors() ? nullptr : std::move(module);
}

}  // namespace tg::driver
