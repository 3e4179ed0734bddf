#include "tools/compile/compile_main.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "frontend/gguf/language_model.h"
#include "frontend/tokenizer/tokenizer.h"
#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/instrument/temporary_file.h"
#include "passes/instrument/write_file.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/pipeline_text.h"
#include "runtime/artifact/artifact_file.h"
#include "runtime/artifact/compile_artifact.h"
#include "runtime/io/file.h"
#include "runtime/opencl/compile_job.h"
#include "runtime/opencl/opencl_layers.h"
#include "runtime/session/half_pipeline.h"
#include "runtime/session/open.h"
#include "runtime/session/session.h"
#include "tools/compile/compile_to_c.h"
#include "tools/compile/list_artifact.h"
#include "tools/driver/device_listing.h"
#include "tools/driver/flags.h"
#include "tools/driver/input.h"
#include "tools/driver/listing.h"
#include "tools/driver/model_sizes.h"
#include "tools/driver/out_of_memory.h"
#include "tools/driver/standard_error.h"
#include "tools/llm/compiled_text.h"
#include "tools/llm/model_file.h"
#include "tools/llm/text_model.h"
#include "tools/llm/tokenizer_data.h"
#include "tools/run/gates.h"

namespace tg::compile {
namespace {

constexpr char kTool[] = "tg-compile";

struct CompileFlags {
  std::string output, input_format = "auto", target, schedules, max_memory, weights = "inside",
                      emit = "tgx";
  std::vector<std::string> device_texts;
  driver::ModelSizes sizes;
  driver::AllowedFlags allowed;
  run::Gates gates;
  std::optional<int64_t> context, chunk;
  std::string cache_type = "f16", products = "auto";
  bool float16 = false, source = true, cache = true, list = false, list_devices = false,
       version = false;
  bool help = false;

  void AddTo(driver::Flags& flags);
  absl::Status Interpret();

  runtime::DeviceRequest devices;
};

void CompileFlags::AddTo(driver::Flags& flags) {
  flags.String("output", "FILE", &output,
               "the file to write; by default the model's name, .tgx, .o or .c");
  flags.Choice("emit", {"tgx", "object", "c"}, &emit,
               "what is written: a compiled model; machine code of this processor as FILE.o, with "
               "FILE.c that launches it; or C99 as FILE.c; beside these two FILE.h and, if there "
               "are weights, FILE.weights, to link into a program that needs no library");
  driver::AddInputFormat(flags, &input_format);
  sizes.AddTo(flags);
  flags.Repeated("device", "[NAME=]DEVICE", &device_texts,
                 "the device to compile for, which is opened: as for tg-run");
  flags.String("target", "NAME", &target, "a preset or a file, as for tg-run");
  flags.String("schedules", "FILE", &schedules,
               "measured schedules (docs/search.md) for the kernels that it has");
  flags.Int("ctx", "N", &context, "of a text model (GGUF): as for tg-llm");
  flags.Int("chunk", "N", &chunk, "of a text model: as for tg-llm");
  flags.Choice("cache-type", gguf::kCacheTypeNames, &cache_type, "of a text model: as for tg-llm");
  flags.Choice("products", {"auto", "f32", "f16"}, &products, "of a text model: as for tg-llm");
  allowed.AddTo(flags);
  flags.Bool("float16", &float16, "store weights and activations as float16");
  flags.Bool(
      "source", &source,
      "store the native device's kernels as source too, by which another processor runs them "
      "(on by default)");
  flags.Choice(
      "weights", {"inside", "external"}, &weights,
      "where the file has weights; external: those that the model's files have as they are "
      "needed stay there");
  flags.Bool("cache", &cache, "take compiled kernels from the cache on disk (on by default)");
  flags.Int("max-kernels", "N", &gates.max_kernels, "the number of kernels of a run, at most");
  flags.String("max-memory", "SIZE", &max_memory,
               "the memory of all buffers, at most, e.g. 64MB or 1.5GiB");
  flags.Bool("list", &list,
             "print what is in FILE.tgx, and check that its contents are those that were written");
  flags.Bool("list-devices", &list_devices, "print the devices of this machine");
  flags.Bool("version", &version, "print the version");
  flags.Bool("help", &help, "print this text");
}

absl::Status CompileFlags::Interpret() {
  TG_RETURN_IF_ERROR(sizes.Parse());
  absl::StatusOr<runtime::DeviceRequest> request = runtime::ParseDeviceRequest(device_texts);
  if (!request.ok()) {
    return InvalidArgument("--device: ", std::string(request.status().message()));
  }
  devices = *std::move(request);
  if (emit != "tgx" && (weights != "inside" || !source)) {
    return InvalidArgument("--weights and --source are for --emit=tgx");
  }
  if (emit == "object" && devices.plain.empty()) devices.plain = "native";
  if (emit == "c" && (!device_texts.empty() || !schedules.empty())) {
    return InvalidArgument("--device and --schedules are not for --emit=c");
  }
  if (context.value_or(1) < 1 || chunk.value_or(1) < 1) {
    return InvalidArgument("--ctx and --chunk are at least 1");
  }
  if (gates.max_kernels && *gates.max_kernels < 0) {
    return InvalidArgument("--max-kernels must be at least 0, not ", *gates.max_kernels);
  }
  if (max_memory.empty()) return absl::OkStatus();
  const absl::StatusOr<int64_t> bytes = run::ParseByteSize(max_memory);
  if (!bytes.ok()) {
    return InvalidArgument("--max-memory: ", std::string(bytes.status().message()));
  }
  gates.max_memory_bytes = *bytes;
  gates.max_memory_text = max_memory;
  return absl::OkStatus();
}

absl::Status List(const std::string& path) {
  TG_ASSIGN_OR_RETURN(const artifact::ArtifactFile file, artifact::ArtifactFile::Open(path));
  TG_RETURN_IF_ERROR(file.VerifyContents());
  return instrument::WriteStdout(ListArtifact(file));
}

absl::StatusOr<std::unique_ptr<Module>> ReadModel(const std::string& path,
                                                  const CompileFlags& flags) {
  for (const auto& [flag, given] : {std::pair("--ctx", flags.context.has_value()),
                                    std::pair("--chunk", flags.chunk.has_value()),
                                    std::pair("--cache-type", flags.cache_type != "f16"),
                                    std::pair("--products", flags.products != "auto")}) {
    if (given) return InvalidArgument(flag, " is for text models (GGUF), which ", path, " is not");
  }
  TG_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  TG_ASSIGN_OR_RETURN(const onnx::OnnxImportOptions onnx,
                      flags.sizes.For(text, model::IsOnnxInput(text, path, flags.input_format)));
  Diagnostics diagnostics;
  std::unique_ptr<Module> read =
      model::ReadInput(text, path, flags.input_format, diagnostics, onnx);
  if (read == nullptr) {
    llvm::errs() << diagnostics.ToString();
    return absl::InvalidArgumentError("");
  }
  TG_RETURN_IF_ERROR(flags.allowed.AddTo(*read));
  return read;
}

// Returns the module, and what tg-llm needs besides.
absl::StatusOr<std::unique_ptr<Module>> ReadTextModel(
    const std::string& path, const CompileFlags& flags,
    std::vector<artifact::Attachment>& attachments) {
  TG_RETURN_IF_ERROR(flags.sizes.For("", /*is_onnx=*/false).status());
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<llm::ModelFile> file, llm::ModelFile::Open(path));
  gguf::LanguageModelOptions options;
  options.context = flags.context.value_or(0);
  options.chunk = flags.chunk.value_or(0);
  options.cache_type = gguf::CacheTypeNamed(flags.cache_type);
  std::optional<bool> half_products;
  if (flags.products != "auto") half_products = flags.products == "f16";
  TG_RETURN_IF_ERROR(llm::FitToDevice(flags.devices, flags.target, half_products, options));
  TG_ASSIGN_OR_RETURN(gguf::LanguageModel model, llm::BuildTextModule(*file, options));
  llm::CompiledText text;
  text.sizes = llm::SizesOf(model);
  TG_ASSIGN_OR_RETURN(text.tokenizer, llm::TokenizerDataOf(file->model()));
  TG_RETURN_IF_ERROR(tokenizer::NumberMerges(text.tokenizer));
  attachments.push_back(
      artifact::MakeAttachment(llm::kTextModel, llm::EncodeText(std::move(text))));
  return std::move(model.module);
}

absl::Status CheckGates(const Module& module, const run::Gates& gates) {
  for (const auto& graph : module.graphs) {
    if (graph->name == kInitGraph) continue;
    TG_RETURN_IF_ERROR(run::CheckGates(module, *graph, gates));
  }
  return absl::OkStatus();
}

// Compiles for no device, with the passes of `pipeline`.
absl::Status CompileC(std::unique_ptr<Module> module, const CompileFlags& flags,
                      passes::Pipeline pipeline, const std::string& output) {
  if (!flags.target.empty()) module->target = flags.target;
  if (module->target.empty()) module->target = "c99";
  TG_RETURN_IF_ERROR(passes::PassManager(std::move(pipeline), {}).Run(*module));
  TG_RETURN_IF_ERROR(CheckGates(*module, flags.gates));
  return WriteC(*module, output);
}

absl::Status Compile(const std::string& path, const CompileFlags& flags) {
  std::vector<artifact::Attachment> attachments;
  const bool is_text = flags.emit == "tgx" && runtime::BeginsWith(path, "GGUF");
  TG_ASSIGN_OR_RETURN(std::unique_ptr<Module> read,
                      is_text ? ReadTextModel(path, flags, attachments) : ReadModel(path, flags));
  const passes::PassRegistry registry = passes::MakeRegistry({});
  passes::Pipeline pipeline = passes::MakePipeline(passes::kPipeline);
  if (flags.float16) {
    TG_ASSIGN_OR_RETURN(pipeline, runtime::WithHalf(registry, std::move(pipeline)));
  }
  const std::string ending = flags.emit == "tgx" ? ".tgx" : flags.emit == "c" ? ".c" : ".o";
  const std::filesystem::path source(path);
  const std::string output = flags.output.empty()
                                 ? std::filesystem::path(source).replace_extension(ending).string()
                                 : flags.output;
  if (flags.emit == "c") return CompileC(std::move(read), flags, std::move(pipeline), output);
  runtime::OpenOptions open;
  open.devices = flags.devices;
  open.devices.specialize = false;
  open.target = flags.target;
  open.schedules = flags.schedules;
  open.pipeline = std::move(pipeline);
  if (!flags.schedules.empty()) open.passes.log = &llvm::errs();
  if (!flags.cache) open.cache = nullptr;
  std::unique_ptr<Module> module = Clone(*read);
  TG_ASSIGN_OR_RETURN(const runtime::DeviceSessionOptions options,
                      runtime::CompileModule(*module, open));
  TG_RETURN_IF_ERROR(CheckGates(*module, flags.gates));
  if (flags.emit == "object") {
    if (!options.context->info().is_native || !options.others.empty()) {
      return InvalidArgument("--emit=object is for the native CPU device, not for ",
                             options.context->name());
    }
    return WriteObject(*module, options.target, options.context->name(), output);
  }
  const artifact::ArtifactSettings settings = {Cat(kTool, " ", driver::kVersion),
                                               source.filename().string(), flags.source,
                                               flags.weights == "external", std::move(attachments)};
  return artifact::CompileArtifact(std::move(module), options, settings, output);
}

}  // namespace

int CompileMain(int argc, const char* const* argv) {
  if (argc == 2 && std::string_view(argv[1]) == runtime::kCompileWorkerFlag) {
    return runtime::RunCompileWorker();
  }
  driver::ExitWhenOutOfMemory(kTool);
  driver::TolerateFullStandardError();
  runtime::KeepOpenClLayersFromChildren();
  instrument::TemporaryFile::RemoveOnSignals();
  CompileFlags values;
  driver::Flags flags(kTool, "[options] MODEL | --list FILE.tgx",
                      "Compiles a model for a device to one file, which tg-run and programs with "
                      "the runtime library run without a compile.");
  values.AddTo(flags);
  const absl::StatusOr<std::vector<std::string>> files =
      flags.Parse(driver::ArgumentsWithOutput(argc, argv));
  if (!files.ok()) return driver::Fail(kTool, driver::kUsage, files.status());
  const absl::StatusOr<std::string> listing =
      driver::DeviceToolListing(kTool, {values.help, values.version, values.list_devices}, flags);
  if (!listing.ok()) return driver::Fail(kTool, driver::kFailed, listing.status());
  if (values.help || values.version || values.list_devices) {
    const absl::Status status = instrument::WriteStdout(*listing);
    return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
  }
  if (const absl::Status status = values.Interpret(); !status.ok()) {
    return driver::Fail(kTool, driver::kUsage, status);
  }
  if (files->size() != 1) {
    return driver::Fail(
        kTool, driver::kUsage,
        InvalidArgument("one model, not ", files->size(), "; see tg-compile --help"));
  }
  const absl::Status status = values.list ? List((*files)[0]) : Compile((*files)[0], values);
  return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
}

}  // namespace tg::compile
