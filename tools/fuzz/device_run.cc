#include "tools/fuzz/device_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/status.h"
#include "ir/devices.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/target_fields.h"
#include "runtime/cpu/native_context.h"
#include "runtime/devices/devices.h"
#include "runtime/session/device_session_options.h"
#include "runtime/session/device_target.h"
#include "runtime/session/tensors.h"

namespace tg::fuzz {

namespace {

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
  std::string text;
  char part[4096];
  for (ssize_t size = 1; child > 0 && size > 0;) {
    size = ::read(ends[0], part, sizeof part);
    text.append(part, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  }
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return text;
}

}  // namespace

passes::Target TargetFor(std::string_view device) {
  absl::StatusOr<passes::Target> target = passes::FindTarget("cl-cpu");
  TG_CHECK(target.ok());
  if (device.starts_with("native") || device.starts_with("cpu")) {
    const auto chosen = runtime::ChooseDevice(cpu::ListNativeDevices(), device);
    return chosen.ok() ? runtime::TargetForDevice(chosen->info) : *target;
  }
  // A driver of OpenCL does not survive in the workers, which are forked.
  const std::string text = InOtherProcess([&]() -> std::string {
    const auto chosen = runtime::ChooseDevice(device);
    return chosen.ok() ? passes::PrintTarget(runtime::TargetForDevice(chosen->info)) : "";
  });
  absl::StatusOr<passes::Target> own = passes::ParseTarget(text, "device");
  return !text.empty() && own.ok() ? *own : *target;
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
