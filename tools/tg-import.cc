// tg-import: what print(uop) gives in tinygrad, as a module (docs/tinygrad.md).
#include <string>
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

namespace tg {
namespace {

constexpr char kTool[] = "tg-import";
enum ExitCode : int { kExitOk = 0, kExitBadInput = 1, kExitUsage = 2 };

int Fail(ExitCode code, const absl::Status& status) {
  PrintError(kTool, status);
  return code;
}

int Main(int argc, char** argv) {
  ExitWhenOutOfMemory(kTool);
  TolerateFullStandardError();
  TemporaryFile::RemoveOnSignals();
  std::string output = "-", format = "tinygrad";
  bool version = false, help = false;
  Flags flags(
      kTool, "[options] [graph.repr]",
      "Writes the module that a graph or kernel, as printed by tinygrad, stands for. Without "
      "an input, or with '-', standard input is read.");
  flags.String("o", "FILE", &output, "where the module goes; '-', the default, is standard output");
  AddInputFormat(flags, &format);
  flags.Bool("version", &version, "the version");
  flags.Bool("help", &help, "this text");
  const absl::StatusOr<std::vector<std::string>> inputs =
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!inputs.ok()) return Fail(kExitUsage, inputs.status());
  if (help || version) {
    const absl::Status status = WriteStdout((help ? flags.Help() : std::string()) +
                                            (version ? VersionText(kTool) : std::string()));
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
  const std::unique_ptr<Module> module = ReadInput(*text, path, format, diagnostics);
  if (!module) {
    llvm::errs() << diagnostics.ToString();
    return kExitBadInput;
  }
  const std::string result = PrintModule(*module);
  const absl::Status status = output == "-" ? WriteStdout(result) : WriteFile(output, result);
  return status.ok() ? kExitOk : Fail(kExitBadInput, status);
}

}  // namespace
}  // namespace tg

int main(int argc, char** argv) { return tg::Main(argc, argv); }
