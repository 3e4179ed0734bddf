#include "runtime/artifact/open_artifact.h"

#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/cpu/code_generator.h"
#include "runtime/cpu/native_context.h"
#include "runtime/cpu/processor.h"
#include "runtime/devices/devices.h"
#include "runtime/opencl/cl_program.h"
#include "runtime/opencl/list_devices.h"
#include "runtime/session/device_kernels.h"

namespace tg::artifact {
namespace {

using runtime::Context;
using runtime::Device;
using runtime::DeviceCode;

// What the user asks for one of the file's devices; empty: nothing.
std::string RequestFor(const runtime::DeviceRequest& request, const DeviceCode& code,
                       size_t devices) {
  for (const std::string& name : code.names) {
    if (const auto named = request.named.find(name); named != request.named.end()) {
      return named->second;
    }
    if (name.empty() && !request.plain.empty()) return request.plain;
  }
  return devices == 1 ? request.plain : "";
}

absl::StatusOr<Device> ChooseNative(const std::string& path, const std::string& request) {
  const std::vector<Device> native = cpu::ListNativeDevices(/*to_compile=*/false);
  if (native.empty()) {
    return NotFound(path, " has machine code for x86-64 with AVX2, which this processor is not");
  }
  if (request.empty()) return native[0];
  absl::StatusOr<Device> chosen = runtime::ChooseDevice(native, request);
  if (chosen.ok()) return chosen;
  return InvalidArgument(path, " is compiled for the native CPU device, not for '", request,
                         "'; compile the model for that device");
}

absl::StatusOr<Device> ChooseOpenCl(const std::string& path, const MadeFor& made_for,
                                    const std::string& request) {
  TG_ASSIGN_OR_RETURN(const std::vector<Device> devices, runtime::ListOpenClDevices());
  if (!request.empty()) {
    absl::StatusOr<Device> chosen = runtime::ChooseDevice(devices, request);
    if (chosen.ok()) return chosen;
    return InvalidArgument(
        path, " is compiled for devices of OpenCL: ", std::string(chosen.status().message()));
  }
  for (const Device& device : devices) {
    if (device.info.name == made_for.name && device.info.platform == made_for.platform) {
      return device;
    }
  }
  return NotFound(path, " is compiled for ", made_for.name, " (", made_for.platform,
                  "), which is not there; --device names another one, for which its kernels are "
                  "compiled again. There are:\n",
                  runtime::DescribeDevices(devices));
}

// Unpacks what is needed. Drops machine code that the device does not run: its source is compiled
// then.
absl::Status ChooseCode(const std::string& path, const MadeFor& device,
                        const ArtifactOptions& options, size_t number, Artifact& artifact) {
  const MadeFor& made_for = artifact.made_for[number];
  const bool is_own = made_for.key == device.key;
  const auto named = [&](const absl::Status& status) {
    return status.ok() ? status : InvalidArgument(path, ": ", std::string(status.message()));
  };
  // A driver may refuse the binaries.
  if (!is_own || !device.is_native || options.sources) {
    TG_RETURN_IF_ERROR(named(UnpackSources(artifact, number)));
  }
  if (is_own) return named(UnpackBinaries(artifact, number));
  DeviceCode& code = artifact.executable.devices[number];
  if (device.is_native && !cpu::HasCodeGenerator()) {
    return absl::FailedPreconditionError(
        Cat(path, " has machine code for another processor, ", made_for.name, "; this one, ",
            device.name, ", needs the code generator libtg_codegen.so, which is not there"));
  }
  for (runtime::CompiledKernel& kernel : code.kernels) {
    if (device.is_native && kernel.code.source.empty()) {
      return absl::FailedPreconditionError(Cat(path, " has machine code for another processor, ",
                                               made_for.name, ", and no source; ", "this one is ",
                                               device.name));
    }
    kernel.object.clear();
  }
  if (options.note) {
    options.note(
        Cat(path, " has code for ", made_for.name, "; it is compiled again for ", device.name));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::shared_ptr<Context>>> OpenDevicesOf(
    const Artifact& artifact, const ArtifactOptions& options) {
  const runtime::Executable& executable = artifact.executable;
  const std::string& path = executable.path;
  std::vector<Device> devices;
  for (size_t d = 0; d < executable.devices.size(); ++d) {
    const std::string request =
        RequestFor(options.devices, executable.devices[d], executable.devices.size());
    TG_ASSIGN_OR_RETURN(Device device, artifact.made_for[d].is_native
                                           ? ChooseNative(path, request)
                                           : ChooseOpenCl(path, artifact.made_for[d], request));
    devices.push_back(std::move(device));
  }
  return runtime::OpenContexts(devices, options.profiling);
}

}  // namespace

MadeFor MadeForDevice(const Context& context, const runtime::BuildOptions& options) {
  const runtime::DeviceInfo& info = context.info();
  MadeFor made_for = {info.is_native, info.name, info.platform, ""};
  made_for.key = info.is_native
                     ? cpu::ThisProcessor().key
                     : runtime::ProgramKey(info, "", runtime::CompilerOptions(info, options));
  return made_for;
}

absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> OpenArtifact(ArtifactFile file,
                                                                     ArtifactOptions options) {
  Artifact& artifact = file.artifact();
  runtime::Executable& executable = artifact.executable;
  const std::string& path = executable.path;
  if (options.verify) TG_RETURN_IF_ERROR(file.VerifyOwnContents());
  std::vector<std::shared_ptr<Context>> contexts;
  const std::shared_ptr<Context>& opened = options.devices.opened;
  if (opened != nullptr) {
    if (executable.devices.size() != 1 ||
        artifact.made_for[0].is_native != opened->info().is_native) {
      return InvalidArgument(path, " is compiled for other devices than the open one, ",
                             opened->name());
    }
    TG_RETURN_IF_ERROR(runtime::CheckProfiling(*opened, options.profiling));
    contexts = {opened};
  } else {
    TG_ASSIGN_OR_RETURN(contexts, OpenDevicesOf(artifact, options));
  }
  for (size_t d = 0; d < contexts.size(); ++d) {
    TG_RETURN_IF_ERROR(
        ChooseCode(path, MadeForDevice(*contexts[d], options), options, d, artifact));
  }
  runtime::OpenContents contents = file.OpenContents();
  return runtime::DeviceSession::Create(
      std::make_unique<const runtime::Executable>(std::move(executable)), contexts,
      std::move(contents), std::move(options));
}

absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> OpenArtifact(const std::string& path,
                                                                     ArtifactOptions options) {
  TG_ASSIGN_OR_RETURN(ArtifactFile file, ArtifactFile::Open(path));
  return OpenArtifact(std::move(file), std::move(options));
}

}  // namespace tg::artifact
