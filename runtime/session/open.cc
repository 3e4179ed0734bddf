#include "runtime/session/open.h"

#include <utility>

#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"
#include "passes/pipeline.h"
#include "runtime/base/status.h"
#include "runtime/session/device_session.h"
#include "runtime/session/open_devices.h"
#include "runtime/session/reference_session.h"

namespace tg::runtime {
namespace {

// Returns the program cache that all sessions of the process share; null if it has no folder.
DiskCache* ProcessCache() {
  static DiskCache& cache = *new DiskCache(DefaultCacheDirectory());
  return cache.directory().empty() ? nullptr : &cache;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> OpenSession(const std::string& path,
                                                     std::string_view device) {
  return OpenSession(path, DeviceWishes{std::string(device), {}});
}

absl::StatusOr<std::unique_ptr<Session>> OpenSession(const std::string& path,
                                                     const DeviceWishes& wishes) {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ReadModuleFile(path, diagnostics);
  if (module) VerifyParsedModule(*module, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.ToStatus();
  if (wishes.plain == "reference") {
    const InterpretOptions options = OptionsFor(*module);
    return std::make_unique<ReferenceSession>(std::move(module), options);
  }
  TG_ASSIGN_OR_RETURN(const std::vector<Device> devices, ListDevices());
  TG_ASSIGN_OR_RETURN(const std::vector<ChosenDevice> chosen,
                      ChooseDevices(*module, wishes, devices));
  DeviceSessionOptions options;
  TG_RETURN_IF_ERROR(OpenDevices(*module, chosen, "", /*profiling=*/false, options));
  options.cache = ProcessCache();
  TG_RETURN_IF_ERROR(CompileForDevices(*module, MakePipeline(kPipeline), {}, options));
  return DeviceSession::Create(std::move(module), std::move(options));
}

}  // namespace tg::runtime
