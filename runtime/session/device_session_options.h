// DeviceSessionOptions: on which devices a module runs, and for what it was compiled.
#ifndef TG_RUNTIME_SESSION_DEVICE_SESSION_OPTIONS_H_
#define TG_RUNTIME_SESSION_DEVICE_SESSION_OPTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "ir/module.h"
#include "passes/target.h"
#include "runtime/session/device_memory.h"
#include "runtime/session/device_session.h"

namespace tg::runtime {

// A device other than the first one.
struct NamedDevice {
  std::vector<std::string> names;  // names of this device in the module's buffers
  std::shared_ptr<Context> context;
  passes::Target target;
  // The session's module compiled for `target`, with its kernels in the same order. Null means the
  // session's own module.
  std::shared_ptr<const Module> module;
};

struct DeviceSessionOptions : SessionOptions {
  // The first or only device, whatever its name in the module, and the target for which the module
  // was compiled.
  std::shared_ptr<Context> context;
  passes::Target target;
  std::vector<std::string> names = {""};  // names of the first device in the module's buffers
  std::vector<NamedDevice> others;
};

// Returns the devices of a session with these options, none of which has allocated anything.
std::vector<DeviceMemory> DevicesOf(const Module& module, const DeviceSessionOptions& options);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_SESSION_OPTIONS_H_
