#include "runtime/session/open.h"

#include <utility>

#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"
#include "runtime/base/status.h"
#include "runtime/session/compile.h"
#include "runtime/session/device_session.h"
#include "runtime/session/device_target.h"
#include "runtime/session/reference_session.h"

namespace tg::runtime {
namespace {

// Programs of all sessions of the process; null where there is no folder for them.
DiskCache* ProcessCache() {
  static DiskCache& cache = *new DiskCache(DefaultCacheDirectory());
  return cache.directory().empty() ? nullptr : &cache;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> OpenSession(const std::string& path,
                                                     std::string_view device_wish) {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ReadModuleFile(path, diagnostics);
  if (module) VerifyModule(*module, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.ToStatus();
  if (device_wish == "reference") {
    const InterpretOptions options = OptionsFor(*module);
    return std::make_unique<ReferenceSession>(std::move(module), options);
  }
  TG_ASSIGN_OR_RETURN(const std::string own_wish, DeviceOf(*module));
  TG_ASSIGN_OR_RETURN(const Device device,
                      ChooseDevice(device_wish.empty() ? own_wish : device_wish));
  DeviceSessionOptions options;
  TG_ASSIGN_OR_RETURN(options.context, Context::Create(device, /*profiling=*/false));
  TG_ASSIGN_OR_RETURN(options.target, ChooseTarget("", module->target, device.info));
  if (CachingPays(device.info)) options.cache = ProcessCache();
  TG_RETURN_IF_ERROR(CompileForTarget(*module, options.target));
  return DeviceSession::Create(std::move(module), std::move(options));
}

}  // namespace tg::runtime
