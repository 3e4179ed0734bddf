// tg-import: converts an ONNX model (docs/running-models.md), a text model in a GGUF file
// (docs/text.md), or the text that tinygrad's print(uop) prints (docs/tinygrad.md), to a module.
#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/instrument/temporary_file.h"
#include "passes/instrument/write_file.h"
#include "tools/driver/flags.h"
#include "tools/driver/input.h"
#include "tools/driver/listing.h"
#include "tools/driver/out_of_memory.h"
#include "tools/driver/standard_error.h"

namespace tg::tools {
namespace {

constexpr char kTool[] = "tg-import";
enum ExitCode : int { kExitOk = 0, kExitBadInput = 1, kExitUsage = 2 };

int Fail(ExitCode code, const absl::Status& status) {
  driver::PrintError(kTool, status);
  return code;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// File names are relative to the module's file: a module that is written to another folder than the
// model's names them in full.
void NameFilesFrom(const std::string& output, Module& module) {
  char from[PATH_MAX], to[PATH_MAX];
  if (realpath(FolderOf(module.path).c_str(), from) == nullptr) return;
  const bool same = output != "-" && realpath(FolderOf(output).c_str(), to) != nullptr &&
                    std::string_view(from) == to;
  for (BufferDecl& buffer : module.buffers) {
    if (!same && !buffer.file.empty()) buffer.file = std::string(from) + "/" + buffer.file;
  }
}

int Main(int argc, char** argv) {
  driver::ExitWhenOutOfMemory(kTool);
  driver::TolerateFullStandardError();
  instrument::TemporaryFile::RemoveOnSignals();
  std::string output = "-", format = "auto";
  bool version = false, help = false;
  driver::Flags flags(
      kTool, "[options] [model.onnx | model.gguf | graph.repr]",
      "Writes the module that an ONNX model or a text model in a GGUF file means, or a graph or "
      "kernel as printed by tinygrad. "
      "Weights stay in the model's file. Without an input, or with '-', standard input is read.");
  flags.String("o", "FILE", &output, "where the module goes; '-', the default, is standard output");
  driver::AddInputFormat(flags, &format);
  flags.Bool("version", &version, "the version");
  flags.Bool("help", &help, "this text");
  const absl::StatusOr<std::vector<std::string>> inputs =
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!inputs.ok()) return Fail(kExitUsage, inputs.status());
  if (help || version) {
    const absl::Status status =
        instrument::WriteStdout((help ? flags.Help() : std::string()) +
                                (version ? driver::VersionText(kTool) : std::string()));
    return status.ok() ? kExitOk : Fail(kExitBadInput, status);
  }
  if (inputs->size() > 1) {
    return Fail(kExitUsage, absl::InvalidArgumentError("one input, not " + (*inputs)[0] + " and " +
                                                       (*inputs)[1]));
  }
  const std::string path = inputs->empty() ? "-" : (*inputs)[0];
  const absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return Fail(kExitBadInput, text.status());
  Diagnostics diagnostics;
  const std::unique_ptr<Module> module = model::ReadInput(*text, path, format, diagnostics);
  if (!module) {
    llvm::errs() << diagnostics.ToString();
    return kExitBadInput;
  }
  if (model::IsOnnxInput(*text, path, format) || model::IsGgufInput(*text, format))
    NameFilesFrom(output, *module);
  const std::string result = PrintModule(*module);
  const absl::Status status =
      output == "-" ? instrument::WriteStdout(result) : instrument::WriteFile(output, result);
  return status.ok() ? kExitOk : Fail(kExitBadInput, status);
}

}  // namespace
}  // namespace tg::tools

int main(int argc, char** argv) { return tg::tools::Main(argc, argv); }
