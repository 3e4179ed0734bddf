#include "runtime/opencl/driver_cache.h"

#include <signal.h>
#include <unistd.h>

#include "base/status.h"
#include "runtime/opencl/pocl_cache.h"

namespace tg::runtime {
namespace {

// The text that the handler writes. It is set before the handler is installed, and never freed.
const std::string* crash_message = nullptr;

struct Handled {
  int signal;
  struct sigaction before;
};
Handled handled[] = {{SIGABRT, {}}, {SIGBUS, {}}, {SIGILL, {}}, {SIGSEGV, {}}};

// Calls only async-signal-safe functions. The signal's previous action runs after the return.
void ExplainAndRaise(int signal) {
  if (::write(STDERR_FILENO, crash_message->data(), crash_message->size()) < 0) {
    // A failed write cannot be reported.
  }
  for (const Handled& h : handled) {
    if (h.signal == signal) ::sigaction(signal, &h.before, nullptr);
  }
  ::raise(signal);
}

}  // namespace

std::string DriverCacheFault(const DeviceInfo& device) {
  if (!device.is_pocl) return "";
  const std::string folder = PoclCacheDirectory();
  const absl::Status usable = CheckKernelFolder(folder);
  if (usable.ok()) return "";
  return Cat("; PoCL cannot use its cache ", folder, " (", std::string(usable.message()), ")");
}

std::string DriverCacheHint(const DeviceInfo& device) {
  if (!device.is_pocl) return "";
  if (std::string fault = DriverCacheFault(device); !fault.empty()) return fault;
  return Cat("; PoCL's cache may be damaged: delete the folder ", PoclCacheDirectory());
}

void ExplainDriverCrashes(const char* tool, const DeviceInfo& device) {
  const std::string hint = DriverCacheHint(device);
  if (hint.empty() || crash_message != nullptr) return;
  crash_message = new std::string(
      Cat("\n", tool, ": the process ends by a signal, perhaps in the OpenCL driver", hint, "\n"));
  for (Handled& h : handled) {
    struct sigaction action = {};
    action.sa_handler = &ExplainAndRaise;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(h.signal, &action, &h.before);
  }
}

}  // namespace tg::runtime
