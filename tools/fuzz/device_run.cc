#include "tools/fuzz/device_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/status.h"
#include "ir/devices.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/cpu/native_context.h"
#include "runtime/devices/devices.h"
#include "runtime/session/device_session_options.h"
#include "runtime/session/device_target.h"
#include "runtime/session/tensors.h"

namespace tg::fuzz {

namespace {

constexpr char kNoTarget[] = "cl-cpu";  // of a device that cannot be chosen

// What f() returns in another process; empty if that crashes.
std::string InOtherProcess(llvm::function_ref<std::string()> f) {
  int ends[2];
  if (::pipe(ends) != 0) return "";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = f();
    _exit(::write(ends[1], text.data(), text.size()) < 0);
  }
  ::close(ends[1]);
  std::string text(64, 0);
  const ssize_t size = child > 0 ? ::read(ends[0], text.data(), text.size()) : 0;
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

}  // namespace

std::string TargetFor(std::string_view device) {
  if (!device.starts_with("native") && !device.starts_with("cpu")) {
    // A driver of OpenCL does not survive in the workers, which are forked.
    const std::string target = InOtherProcess([&]() -> std::string {
      const auto chosen = runtime::ChooseDevice(device);
      return chosen.ok() ? runtime::TargetForDevice(chosen->info).name : "";
    });
    return target.empty() ? kNoTarget : target;
  }
  const std::vector<runtime::Device> native = cpu::ListNativeDevices();
  const auto chosen = runtime::ChooseDevice(native, device);
  return chosen.ok() ? runtime::TargetForDevice(chosen->info).name : kNoTarget;
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
