#include "tools/fuzz/device_run.h"

#include <cstring>

#include "base/status.h"
#include "ir/devices.h"
#include "runtime/cpu/native_context.h"
#include "runtime/devices/devices.h"
#include "runtime/session/device_session_options.h"
#include "runtime/session/device_target.h"
#include "runtime/session/tensors.h"

namespace tg::fuzz {

std::string TargetFor(std::string_view device) {
  if (!device.starts_with("native") && !device.starts_with("cpu")) return "cl-cpu";
  const std::vector<runtime::Device> native = cpu::ListNativeDevices();
  const auto chosen = runtime::ChooseDevice(native, device);
  return chosen.ok() ? runtime::TargetForDevice(chosen->info).name : "cl-cpu";
}

absl::StatusOr<DeviceRunner> DeviceRunner::Open(std::string_view device) {
  TG_ASSIGN_OR_RETURN(const runtime::Device chosen, runtime::ChooseDevice(device));
  TG_ASSIGN_OR_RETURN(auto context, runtime::OpenContext(chosen, /*profiling=*/false));
  return DeviceRunner(std::move(context));
}

absl::StatusOr<interpret::HostBuffers> DeviceRunner::Run(
    std::unique_ptr<Module> compiled, const passes::Target& target,
    const testing::RandomProgram& program, const interpret::HostBuffers& expected) const {
  runtime::DeviceSessionOptions options;
  options.context = context_;
  options.target = target;
  // All devices of the graph are mapped to this one.
  options.names = DeviceNames(*compiled);
  TG_ASSIGN_OR_RETURN(auto session, runtime::DeviceSession::Create(std::move(compiled), options));
  for (const auto& [name, value] : program.vars) {
    if (absl::Status s = session->SetVar(name, value); !s.ok()) return s;
  }
  for (const auto& [name, buffer] : program.inputs) {
    if (!session->declarations().FindBuffer(name)) continue;
    TG_ASSIGN_OR_RETURN(const runtime::HostTensor tensor, runtime::ToHostTensor(buffer));
    if (absl::Status s = session->Set(name, tensor); !s.ok()) return s;
  }
  if (absl::Status s = session->Run("main"); !s.ok()) return s;
  interpret::HostBuffers results;
  for (const auto& [name, buffer] : expected) {
    TG_ASSIGN_OR_RETURN(const runtime::HostTensor tensor, session->Get(name));
    results[name] = interpret::BufferFromBytes(buffer.dtype, tensor.shape, tensor.data.data());
  }
  return results;
}

}  // namespace tg::fuzz
