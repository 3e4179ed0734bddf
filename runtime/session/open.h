// Opens a module on a device in one call.
#ifndef TG_RUNTIME_SESSION_OPEN_H_
#define TG_RUNTIME_SESSION_OPEN_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/session.h"

namespace tg::runtime {

// Reads and verifies a module, compiles it with tg's passes for the device that `device` names (as
// for ChooseDevice; "reference": the interpreter), and builds its kernels. Compiled programs are
// cached in the user's cache folder if CachingPays. For a module over several devices, the requests
// (choose_devices.h) name the devices that do not follow from the module's names.
absl::StatusOr<std::unique_ptr<Session>> OpenSession(const std::string& path,
                                                     std::string_view device = "");
absl::StatusOr<std::unique_ptr<Session>> OpenSession(const std::string& path,
                                                     const DeviceWishes& wishes);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_OPEN_H_
