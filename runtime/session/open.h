// Opens a module on a device in one call. With session.h, this is what a program that embeds tg
// includes (docs/embedding.md); neither header includes OpenCL's.
#ifndef TG_RUNTIME_SESSION_OPEN_H_
#define TG_RUNTIME_SESSION_OPEN_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/session/device_request.h"
#include "runtime/session/session.h"

namespace tg::runtime {

// Reads and verifies the text of a module. Errors name the file and the line.
absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path);

// Verifies a module, runs those passes of the default pipeline on it that it still needs (its
// kernels may be at any stage), for the device that `device` names (as for ChooseDevice in
// runtime/device/device.h; "reference": the interpreter, without passes), and builds its kernels.
// Compiled programs are cached in the user's cache folder if CachingPays. For a module over several
// devices, the request names the devices that do not follow from the module's names.
absl::StatusOr<std::unique_ptr<Session>> OpenSession(std::unique_ptr<Module> module,
                                                     std::string_view device = "");
absl::StatusOr<std::unique_ptr<Session>> OpenSession(std::unique_ptr<Module> module,
                                                     const DeviceRequest& request);

// LoadModule, then OpenSession. A compiled model (docs/compiling-ahead.md) is opened as it is, by
// default on the device for which it was compiled.
absl::StatusOr<std::unique_ptr<Session>> OpenSession(const std::string& path,
                                                     std::string_view device = "");
absl::StatusOr<std::unique_ptr<Session>> OpenSession(const std::string& path,
                                                     const DeviceRequest& request);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_OPEN_H_
