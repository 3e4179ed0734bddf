#include "runtime/session/open.h"

#include <utility>

#include "base/status.h"
#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"
#include "passes/pipeline.h"
#include "runtime/artifact/format.h"
#include "runtime/artifact/open_artifact.h"
#include "runtime/io/file.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/device_session.h"
#include "runtime/session/open_devices.h"
#include "runtime/session/reference_session.h"
#include "runtime/specialize/specializer.h"

namespace tg::runtime {
namespace {

// Returns the program cache that all sessions of the process share; null if it has no folder.
DiskCache* ProcessCache() {
  static DiskCache& cache = *new DiskCache(DefaultCacheDirectory());
  return cache.directory().empty() ? nullptr : &cache;
}

absl::StatusOr<std::unique_ptr<Session>> OpenVerified(std::unique_ptr<Module> module,
                                                      const DeviceRequest& request) {
  if (request.plain == "reference") {
    const interpret::InterpretOptions options = interpret::OptionsFor(*module);
    return std::make_unique<ReferenceSession>(std::move(module), options);
  }
  TG_ASSIGN_OR_RETURN(const std::vector<ChosenDevice> chosen, ChooseDevices(*module, request));
  DeviceSessionOptions options;
  TG_RETURN_IF_ERROR(OpenDevices(*module, chosen, "", /*profiling=*/false, options));
  options.cache = ProcessCache();
  const passes::Pipeline pipeline = passes::MakePipeline(passes::kPipeline);
  if (request.specialize) {
    options.chooser = specialize::Specializer::Create(*module, pipeline, options);
  }
  TG_RETURN_IF_ERROR(CompileForDevices(*module, pipeline, {}, options));
  return DeviceSession::Create(std::move(module), std::move(options));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path) {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ReadModuleFile(path, diagnostics);
  if (module) VerifyParsedModule(*module, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.ToStatus();
  return module;
}

absl::StatusOr<std::unique_ptr<Session>> OpenSession(std::unique_ptr<Module> module,
                                                     std::string_view device) {
  return OpenSession(std::move(module), DeviceRequest{std::string(device)});
}

absl::StatusOr<std::unique_ptr<Session>> OpenSession(std::unique_ptr<Module> module,
                                                     const DeviceRequest& request) {
  if (module == nullptr) return InvalidArgument("there is no module to open");
  TG_RETURN_IF_ERROR(VerifyModule(*module));
  return OpenVerified(std::move(module), request);
}

absl::StatusOr<std::unique_ptr<Session>> OpenSession(const std::string& path,
                                                     std::string_view device) {
  return OpenSession(path, DeviceRequest{std::string(device)});
}

absl::StatusOr<std::unique_ptr<Session>> OpenSession(const std::string& path,
                                                     const DeviceRequest& request) {
  if (BeginsWith(path, artifact::kMagic)) {
    if (request.plain == "reference") {
      return InvalidArgument(path, " is compiled; the interpreter needs the model");
    }
    artifact::ArtifactOptions options;
    options.devices = request;
    options.cache = ProcessCache();
    return artifact::OpenArtifact(path, std::move(options));
  }
  TG_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, LoadModule(path));
  return OpenVerified(std::move(module), request);
}

}  // namespace tg::runtime
