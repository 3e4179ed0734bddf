#include "tools/driver/opt_main.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "codegen/c/renderer.h"
#include "codegen/llvm/renderer.h"
#include "codegen/opencl/renderer.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/instrument/temporary_file.h"
#include "passes/instrument/write_file.h"
#include "passes/pipeline.h"
#include "passes/target.h"
#include "runtime/cpu/code_generator.h"
#include "runtime/export/c_unit.h"
#include "tools/driver/c_files.h"
#include "tools/driver/flags.h"
#include "tools/driver/input.h"
#include "tools/driver/listing.h"
#include "tools/driver/model_sizes.h"
#include "tools/driver/out_of_memory.h"
#include "tools/driver/pass_flags.h"
#include "tools/driver/standard_error.h"

namespace tg::driver {
namespace {

constexpr char kTool[] = "tg-opt";

int Fail(ExitCode code, const absl::Status& status) {
  PrintError(kTool, status);
  return code;
}

// Appends a row with the lifetime of this object.
class Timed {
 public:
  Timed(std::vector<instrument::TimeRow>& rows, std::string what)
      : rows_(rows), what_(std::move(what)) {}
  ~Timed() {
    rows_.push_back({what_, std::chrono::duration<double>(Clock::now() - start_).count()});
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<instrument::TimeRow>& rows_;
  const std::string what_;
  const Clock::time_point start_ = Clock::now();
};

struct OptFlags {
  std::string pass, output = "-", emit = "uop", input_format = "auto";
  bool help = false, version = false, list_passes = false, list_targets = false;
  PassFlags passes;
  ModelSizes sizes;
  AllowedFlags allowed;

  void AddTo(Flags& flags) {
    flags.String(
        "pass", "PIPELINE", &pass,
        "the passes to run, e.g. kernelize,lower:max=8:explain; 'default' is tg's pipeline");
    flags.String("o", "FILE", &output,
                 "where the result goes; '-', the default, is standard output");
    flags.Choice("emit", {"uop", "opencl", "c", "c-header", "c99", "c99-header", "llvm", "asm"},
                 &emit,
                 "what to write; all but uop first run the passes of the default pipeline that "
                 "follow those of --pass. opencl: the source of all kernels; c, c99: a unit with "
                 "kernels and graphs as functions, and with -o NAME.c also NAME.h and the params "
                 "in NAME.weights; c-header, c99-header: only the header; llvm: the kernels in "
                 "LLVM's assembly language; asm: in this machine's");
    AddInputFormat(flags, &input_format);
    sizes.AddTo(flags);
    allowed.AddTo(flags);
    passes.AddTo(flags);
    flags.Group("Instead of all this, print");
    flags.Bool("list-passes", &list_passes, "the passes with their options");
    flags.Bool("list-targets", &list_targets, "the devices that can be compiled for");
    flags.Bool("version", &version, "the version");
    flags.Bool("help", &help, "this text");
  }
};

// The stage of the kernels that a pass changes; none for passes that do not depend on a stage.
std::optional<Stage> InputStage(const passes::Pass* pass) {
  if (pass == &schedule::kSchedulePass || pass == &lower::kLowerPass) return Stage::kKernel;
  if (pass == &expand::kExpandPass) return Stage::kLowered;
  if (pass == &devectorize::kDevectorizePass || pass == &linearize::kLinearizePass)
    return Stage::kExpanded;
  return std::nullopt;
}

// Says that no pass of the pipeline has anything to change; else empty.
std::string StageWarning(const passes::Pipeline& pipeline, const Module& module) {
  if (pipeline.empty()) return "";
  for (const passes::PipelineStep& step : pipeline) {
    const std::optional<Stage> stage = InputStage(step.pass);
    if (!stage) return "";
    for (const auto& kernel : module.kernels) {
      if (kernel->stage == *stage) return "";
    }
  }
  const passes::PipelineStep& first = pipeline.front();
  std::string text =
      absl::StrCat(std::string(first.pass->name), " changes nothing: no kernel is at stage ",
                   std::string(StageName(*InputStage(first.pass))));
  if (module.kernels.empty()) text += "; kernelize makes kernels of the module's graphs";
  return text;
}

class OptRun {
 public:
  // `program`: the name of the running program, which reproducers repeat; it may have more passes
  // than tg-opt.
  OptRun(const OptFlags& flags, passes::Pipeline pipeline, std::string program)
      : flags_(flags), pipeline_(std::move(pipeline)), program_(std::move(program)) {}

  int Run(const std::string& path) {
    const int code = RunTimed(path);
    if (flags_.passes.time_passes) llvm::errs() << instrument::TimeTable(times_);
    return code;
  }

 private:
  int RunTimed(const std::string& path) {
    const std::unique_ptr<Module> module = Read(path);
    if (!module) return kExitBadInput;
    if (const std::string warning = StageWarning(pipeline_, *module); !warning.empty()) {
      llvm::errs() << kTool << ": warning: " << warning << "\n";
    }
    absl::Status status = flags_.passes.Run(pipeline_, program_, input_, *module, times_);
    if (!status.ok()) return Fail(kExitBadInput, status);
    std::vector<OutputFile> files;
    {
      const Timed timed(times_, flags_.emit == "uop" ? "print" : "render");
      absl::StatusOr<std::vector<OutputFile>> result = Emit(*module);
      if (!result.ok()) return Fail(kExitBadInput, result.status());
      files = *std::move(result);
    }
    const Timed timed(times_, "write");
    for (const OutputFile& file : files) {
      status = file.path == "-" ? instrument::WriteStdout(file.text)
                                : instrument::WriteFile(file.path, file.text);
      if (!status.ok()) return Fail(kExitBadInput, status);
    }
    return kExitOk;
  }

  absl::StatusOr<std::vector<OutputFile>> Emit(const Module& module) const {
    if (flags_.emit == "uop") return std::vector<OutputFile>{{flags_.output, PrintModule(module)}};
    const absl::StatusOr<passes::Target> target = passes::FindTarget(module.target);
    if (!target.ok()) return target.status();
    passes::ThreadPool workers(static_cast<int>(flags_.passes.jobs.value_or(0)));
    if (flags_.emit == "llvm" || flags_.emit == "asm") return EmitNative(module, *target, workers);
    if (flags_.emit != "opencl") return EmitC(module, *target, workers);
    absl::StatusOr<codegen::RenderedModule> rendered =
        opencl::RenderModule(module, *target, &workers);
    if (!rendered.ok()) return rendered.status();
    return std::vector<OutputFile>{{flags_.output, std::move(rendered->source)}};
  }

  absl::StatusOr<std::vector<OutputFile>> EmitNative(const Module& module,
                                                     const passes::Target& target,
                                                     passes::ThreadPool& workers) const {
    absl::StatusOr<codegen::RenderedModule> rendered =
        codegen::RenderAll(llvm_ir::LlvmRenderer(), module, target, &workers);
    if (!rendered.ok()) return rendered.status();
    if (flags_.emit == "llvm") {
      return std::vector<OutputFile>{{flags_.output, std::move(rendered->source)}};
    }
    absl::StatusOr<std::string> text = cpu::Compile(rendered->source, cpu::Output::kAssembly);
    if (!text.ok()) return text.status();
    return std::vector<OutputFile>{{flags_.output, *std::move(text)}};
  }

  absl::StatusOr<std::vector<OutputFile>> EmitC(const Module& module, const passes::Target& target,
                                                passes::ThreadPool& workers) const {
    const codegen::Renderer& renderer =
        flags_.emit.starts_with("c99") ? c::C99Renderer() : c::C17Renderer();
    const bool is_header = flags_.emit.ends_with("-header");
    // Functions, header and file of weights have the name of the file.
    const bool is_source = !is_header && flags_.output.ends_with(".c");
    absl::StatusOr<runtime::CUnit> unit = runtime::MakeCUnit(
        module, renderer, target, &workers, is_source ? CUnitName(flags_.output) : "");
    if (!unit.ok()) return unit.status();
    std::vector<OutputFile> files;
    if (is_source) {
      TG_ASSIGN_OR_RETURN(files, CUnitFiles(module, *unit, flags_.output));
    }
    files.push_back({flags_.output, is_header ? std::move(unit->header) : std::move(unit->source)});
    return files;
  }

  // Reads a valid module from the file. Returns null after errors, which are printed.
  std::unique_ptr<Module> Read(const std::string& path) {
    const Timed timed(times_, "read");
    absl::StatusOr<std::string> text = ReadTextFile(path);
    if (!text.ok()) {
      Fail(kExitBadInput, text.status());
      return nullptr;
    }
    input_ = *std::move(text);
    Diagnostics diagnostics;
    const absl::StatusOr<onnx::OnnxImportOptions> sizes =
        flags_.sizes.For(input_, model::IsOnnxInput(input_, path, flags_.input_format));
    if (!sizes.ok()) {
      Fail(kExitBadInput, sizes.status());
      return nullptr;
    }
    std::unique_ptr<Module> module =
        model::ReadInput(input_, path, flags_.input_format, diagnostics, *sizes);
    if (!module) llvm::errs() << diagnostics.ToString();
    if (const absl::Status status = module ? flags_.allowed.AddTo(*module) : absl::OkStatus();
        !status.ok()) {
      Fail(kExitBadInput, status);
      return nullptr;
    }
    // C is for a target with C's vectors, unless module or option name another.
    if (module && module->target.empty() && flags_.emit.starts_with("c")) {
      module->target = flags_.emit.starts_with("c99") ? "c99" : "c";
    }
    return module;
  }

  const OptFlags& flags_;
  const passes::Pipeline pipeline_;
  const std::string program_;
  std::string input_;
  std::vector<instrument::TimeRow> times_;
};

}  // namespace

int OptMain(int argc, const char* const* argv, std::span<const passes::Pass* const> embedder) {
  ExitWhenOutOfMemory(kTool);
  TolerateFullStandardError();
  instrument::TemporaryFile::RemoveOnSignals();
  OptFlags values;
  Flags flags(
      kTool, "[options] [input.uop]",
      "Runs passes on a module and prints it. Without an input, or with '-', standard input "
      "is read.");
  values.AddTo(flags);
  const absl::StatusOr<std::vector<std::string>> inputs =
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!inputs.ok()) return Fail(kExitUsage, inputs.status());

  const passes::PassRegistry registry = passes::MakeRegistry(embedder);
  std::string listing;
  if (values.help) listing += flags.Help();
  if (values.version) listing += VersionText(kTool);
  if (values.list_passes) listing += ListPasses(registry);
  if (values.list_targets) listing += ListTargets();
  if (!listing.empty()) {
    const absl::Status status = instrument::WriteStdout(listing);
    return status.ok() ? kExitOk : Fail(kExitBadInput, status);
  }

  if (const absl::Status status = values.passes.Check(registry); !status.ok()) {
    return Fail(kExitUsage, status);
  }
  if (const absl::Status status = values.sizes.Parse(); !status.ok()) {
    return Fail(kExitUsage, status);
  }
  absl::StatusOr<passes::Pipeline> pipeline =
      passes::ParsePipeline(values.pass, registry, passes::kPipeline);
  if (!pipeline.ok()) {
    return Fail(kExitUsage,
                absl::InvalidArgumentError("--pass: " + std::string(pipeline.status().message())));
  }
  // Code is made of linear kernels.
  if (values.emit != "uop") {
    const passes::Pipeline rest = passes::MakePipeline(passes::RemainingPasses(*pipeline));
    pipeline->insert(pipeline->end(), rest.begin(), rest.end());
  }
  if (inputs->size() > 1) {
    return Fail(kExitUsage, absl::InvalidArgumentError("one input, not " + (*inputs)[0] + " and " +
                                                       (*inputs)[1]));
  }
  const std::string program = llvm::sys::path::filename(argv[0]).str();
  return OptRun(values, *std::move(pipeline), program).Run(inputs->empty() ? "-" : (*inputs)[0]);
}

}  // namespace tg::driver
