// Opens a module, or a compiled model, as a session in one call. model/open.h, a layer above, opens
// files of any format. Neither this header nor session.h includes OpenCL's.
#ifndef TG_RUNTIME_SESSION_OPEN_H_
#define TG_RUNTIME_SESSION_OPEN_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "passes/pass_manager.h"
#include "passes/pipeline_text.h"
#include "runtime/artifact/artifact_file.h"
#include "runtime/session/device_request.h"
#include "runtime/session/device_session_options.h"
#include "runtime/session/session.h"

namespace tg::runtime {

// The cache of compiled programs in the user's cache folder, which all sessions of the process
// share; null if there is no folder.
DiskCache* ProcessCache();

// How a model is opened. `cache` is ProcessCache() unless it is set.
struct OpenOptions : SessionOptions {
  OpenOptions() { cache = ProcessCache(); }
  explicit OpenOptions(std::string_view device) : OpenOptions() { devices.plain = device; }

  // "reference" is the interpreter, which runs a module as it is. For a module over several
  // devices, the request has those which do not follow from the module's names. A compiled model
  // is by default opened on the devices for which it was compiled.
  DeviceRequest devices;
  std::string target;     // a preset or a file; by default the module's, or one for the device
  std::string schedules;  // a file of measured schedules (docs/search.md)
  std::optional<passes::Pipeline> pipeline;  // by default passes::kPipeline
  bool float16 = false;                      // stores weights and activations as halves
  bool verify = true;                        // as in ArtifactOptions, of a compiled model
  // The target is set by the open.
  passes::PassManagerOptions passes = {};
  // Called between the steps with what the session will have: once the devices are open, and
  // once the passes have run. An error ends the open.
  std::function<absl::Status(DeviceSessionOptions&)> on_devices = {};
  std::function<absl::Status(const Module& compiled, DeviceSessionOptions&)> on_compiled = {};
  // Called with a line where kernels of a compiled model are compiled again.
  std::function<void(const std::string&)> note = {};
};

// Reads and verifies the text of a module. Errors name the file and the line.
absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path);

// Opens the devices and runs those passes of the pipeline on the module that it still needs (its
// kernels may be at any stage). The module must be valid.
absl::StatusOr<DeviceSessionOptions> CompileModule(Module& module, const OpenOptions& options);

// CompileModule, and builds the kernels. If `options.devices.specialize`, the session's chooser is
// a Specializer (runtime/specialize), or null where it could gain nothing.
absl::StatusOr<std::unique_ptr<DeviceSession>> OpenDeviceSession(std::unique_ptr<Module> module,
                                                                 const OpenOptions& options);
// The same for a compiled model. Options that concern passes are an error.
absl::StatusOr<std::unique_ptr<DeviceSession>> OpenDeviceSession(artifact::ArtifactFile file,
                                                                 const OpenOptions& options);

// Verifies a module, and opens it on a device or with the interpreter.
absl::StatusOr<std::unique_ptr<Session>> OpenSession(std::unique_ptr<Module> module,
                                                     const OpenOptions& options);
absl::StatusOr<std::unique_ptr<Session>> OpenSession(std::unique_ptr<Module> module,
                                                     std::string_view device = "");

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_OPEN_H_
