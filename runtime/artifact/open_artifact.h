// Opens a .tgx file as a session. With session.h, this is what a program includes that runs
// compiled models and compiles none (docs/compiling-ahead.md).
#ifndef TG_RUNTIME_ARTIFACT_OPEN_ARTIFACT_H_
#define TG_RUNTIME_ARTIFACT_OPEN_ARTIFACT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/artifact/artifact_file.h"
#include "runtime/session/device_request.h"
#include "runtime/session/device_session.h"

namespace tg::artifact {

struct ArtifactOptions : runtime::SessionOptions {
  // The devices; without a request, those for which the file was compiled.
  runtime::DeviceRequest devices;
  bool profiling = false;
  // Reads the weights in the file and compares their hashes. Weights in other files are read where
  // those were written since the compile.
  bool verify = true;
  // Has the kernels' sources in the session's executable, for reports.
  bool sources = false;
  // Called with a line where code is compiled again, because the file has none for the device.
  std::function<void(const std::string&)> note = {};
};

// Another device of OpenCL than the file's, or another driver, compiles the kernels' source.
// Another processor does so too if the code generator is there; else it is an error.
absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> OpenArtifact(ArtifactFile file,
                                                                     ArtifactOptions options);
absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> OpenArtifact(const std::string& path,
                                                                     ArtifactOptions options = {});

// How a device is named in an artifact that is compiled for it.
MadeFor MadeForDevice(const runtime::Context& context, const runtime::BuildOptions& options);

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_OPEN_ARTIFACT_H_
