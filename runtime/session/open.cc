#include "runtime/session/open.h"

#include <utility>

#include "base/status.h"
#include "ir/interpret/options.h"
#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"
#include "passes/pipeline.h"
#include "runtime/artifact/open_artifact.h"
#include "runtime/base/spans.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/half_pipeline.h"
#include "runtime/session/open_devices.h"
#include "runtime/session/reference_session.h"
#include "runtime/specialize/specializer.h"

namespace tg::runtime {
namespace {

absl::StatusOr<passes::Pipeline> PipelineOf(const OpenOptions& options) {
  passes::Pipeline pipeline =
      options.pipeline ? *options.pipeline : passes::MakePipeline(passes::kPipeline);
  if (!options.float16) return pipeline;
  return WithHalf(passes::MakeRegistry({}), std::move(pipeline));
}

}  // namespace

DiskCache* ProcessCache() {
  static DiskCache& cache = *new DiskCache(DefaultCacheDirectory());
  return cache.directory().empty() ? nullptr : &cache;
}

absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path) {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ReadModuleFile(path, diagnostics);
  if (module) VerifyParsedModule(*module, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.ToStatus();
  return module;
}

absl::StatusOr<DeviceSessionOptions> CompileModule(Module& module, const OpenOptions& options) {
  TG_ASSIGN_OR_RETURN(passes::Pipeline pipeline, PipelineOf(options));
  DeviceSessionOptions session;
  static_cast<SessionOptions&>(session) = options;
  {
    const ScopedSpan span(options.spans, "open device");
    TG_ASSIGN_OR_RETURN(const std::vector<ChosenDevice> chosen,
                        ChooseDevices(module, options.devices));
    TG_RETURN_IF_ERROR(OpenDevices(module, chosen, options.target, options.time_kernels, session));
  }
  if (!options.schedules.empty()) {
    TG_RETURN_IF_ERROR(UseSchedules(options.schedules, session, pipeline));
  }
  if (options.on_devices) TG_RETURN_IF_ERROR(options.on_devices(session));
  if (options.devices.specialize) {
    session.chooser = specialize::Specializer::Create(module, pipeline, session);
  }
  {
    const ScopedSpan span(options.spans, "passes");
    TG_RETURN_IF_ERROR(CompileForDevices(module, pipeline, options.passes, session));
  }
  if (options.on_compiled) TG_RETURN_IF_ERROR(options.on_compiled(module, session));
  return session;
}

absl::StatusOr<std::unique_ptr<DeviceSession>> OpenDeviceSession(std::unique_ptr<Module> module,
                                                                 const OpenOptions& options) {
  TG_ASSIGN_OR_RETURN(DeviceSessionOptions session, CompileModule(*module, options));
  return DeviceSession::Create(std::move(module), std::move(session));
}

absl::StatusOr<std::unique_ptr<DeviceSession>> OpenDeviceSession(artifact::ArtifactFile file,
                                                                 const OpenOptions& options) {
  const std::string& path = file.artifact().executable.path;
  if (options.devices.plain == "reference") {
    return InvalidArgument(path, " is compiled; the interpreter needs the model");
  }
  if (options.float16 || options.pipeline || !options.target.empty() ||
      !options.schedules.empty()) {
    return InvalidArgument(path, " is compiled; float16, passes, a target and schedules need the ",
                           "model");
  }
  artifact::ArtifactOptions artifact;
  static_cast<SessionOptions&>(artifact) = options;
  artifact.devices = options.devices;
  artifact.profiling = artifact.sources = options.time_kernels;
  artifact.verify = options.verify;
  artifact.note = options.note;
  return artifact::OpenArtifact(std::move(file), std::move(artifact));
}

absl::StatusOr<std::unique_ptr<Session>> OpenSession(std::unique_ptr<Module> module,
                                                     const OpenOptions& options) {
  if (module == nullptr) return InvalidArgument("there is no module to open");
  TG_RETURN_IF_ERROR(VerifyModule(*module));
  if (options.devices.plain == "reference") {
    const interpret::InterpretOptions interpret = interpret::OptionsFor(*module);
    return std::make_unique<ReferenceSession>(std::move(module), interpret);
  }
  return OpenDeviceSession(std::move(module), options);
}

absl::StatusOr<std::unique_ptr<Session>> OpenSession(std::unique_ptr<Module> module,
                                                     std::string_view device) {
  return OpenSession(std::move(module), OpenOptions(device));
}

}  // namespace tg::runtime
