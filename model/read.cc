#include "model/read.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "frontend/file_kind.h"
#include "frontend/gguf/gguf.h"
#include "frontend/gguf/language_model.h"
#include "frontend/tinygrad/import_tinygrad.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"
#include "runtime/io/file.h"
#include "runtime/session/given.h"

namespace tg::model {
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

absl::Status CheckDimensions(const onnx::OnnxSignature& model, const SizeMap& sizes,
                             const SizeMap& max_sizes, std::string_view size_name,
                             std::string_view max_name) {
  std::vector<std::string_view> names;
  for (const onnx::OnnxValueInfo& input : model.inputs) {
    if (!input.shape) continue;
    for (const onnx::OnnxDimension& dim : *input.shape) {
      const bool is_new = std::find(names.begin(), names.end(), dim.name) == names.end();
      if (!dim.size && is_new) names.push_back(dim.name);
    }
  }
  const auto check = [&](std::string_view option, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return absl::OkStatus();
    if (names.empty()) {
      return InvalidArgument(option, " ", name, ": the model has no open dimension");
    }
    return InvalidArgument(option, " ", name, ": there is no dimension @", name,
                           runtime::OtherNames(name, names));
  };
  for (const auto& [name, value] : sizes) TG_RETURN_IF_ERROR(check(size_name, name));
  for (const auto& [name, value] : max_sizes) {
    // The import knows which sizes depend on data.
    if (!model.MayBeDataSize(name)) TG_RETURN_IF_ERROR(check(max_name, name));
  }
  return absl::OkStatus();
}

absl::Status StatusOf(const Diagnostics& diagnostics) {
  std::string text = diagnostics.ToString();
  while (text.ends_with('\n')) text.pop_back();
  return absl::InvalidArgumentError(text);
}

absl::StatusOr<ReadModel> Read(const Source& source, const ReadOptions& options) {
  const std::string_view bytes = source.bytes();
  const bool is_onnx = IsOnnxInput(bytes, source.path, options.format);
  const onnx::OnnxImportOptions& onnx = options.onnx;
  if (!is_onnx && !(onnx.sizes.empty() && onnx.max_sizes.empty() && onnx.input_shapes.empty() &&
                    onnx.input_values.empty())) {
    return InvalidArgument(source.path, ": sizes and inputs are for ONNX models; the variables of ",
                           "other modules stay variables");
  }
  absl::StatusOr<onnx::OnnxSignature> signature = absl::NotFoundError("not an ONNX model");
  if (is_onnx) signature = onnx::ReadOnnxSignature(bytes);
  // What is wrong with a damaged model is an error of its import.
  if (signature.ok()) {
    TG_RETURN_IF_ERROR(CheckDimensions(*signature, onnx.sizes, onnx.max_sizes));
  }
  Diagnostics diagnostics;
  ReadModel read;
  read.module = ReadInput(bytes, source.path, options.format, diagnostics, onnx);
  if (read.module == nullptr) return StatusOf(diagnostics);
  if (source.memory != nullptr) {
    // Weights in the model's own bytes.
    for (BufferDecl& buffer : read.module->buffers) {
      if (buffer.offset && (buffer.file == source.path || buffer.file == source.file_name())) {
        buffer.file = source.file;
      }
    }
  }
  if (!signature.ok()) return read;
  for (const auto* list : {&signature->inputs, &signature->outputs}) {
    for (const onnx::OnnxValueInfo& value : *list) {
      const std::string symbol = onnx::OnnxSymbol(value.name);
      if (read.module->FindBuffer(symbol) != nullptr) read.names.emplace(symbol, value.name);
    }
  }
  return read;
}

}  // namespace tg::model
