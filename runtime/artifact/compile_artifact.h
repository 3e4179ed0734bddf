// Compiles a module to a .tgx file.
#ifndef TG_RUNTIME_ARTIFACT_COMPILE_ARTIFACT_H_
#define TG_RUNTIME_ARTIFACT_COMPILE_ARTIFACT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"
#include "runtime/artifact/artifact.h"
#include "runtime/session/device_session_options.h"

namespace tg::artifact {

struct ArtifactSettings {
  std::string tool;   // with its version
  std::string model;  // the file that is compiled
  // Whether a native device's kernels have their source too, by which another processor runs them.
  bool native_source = true;
  // Contents that are in files as they are needed stay there.
  bool external_weights = false;
  std::vector<Attachment> attachments;
};

// Writes `path` for a linear module and the devices of the options. Machine code is made for these
// devices. @init runs now if all that it reads is known, and its results are stored instead where
// the file does not grow by that (fold_init.h). Errors name the graph that cannot run, or the
// kernel that cannot be compiled.
absl::Status CompileArtifact(std::unique_ptr<Module> module,
                             const runtime::DeviceSessionOptions& options,
                             const ArtifactSettings& settings, const std::string& path);

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_COMPILE_ARTIFACT_H_
