#include "runtime/opencl/driver_cache.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "base/environment.h"
#include "base/status.h"

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

std::string PoclCacheDirectory() {
  if (std::string folder = Environment("POCL_CACHE_DIR"); !folder.empty()) return folder;
  if (std::string base = Environment("XDG_CACHE_HOME"); !base.empty()) return base + "/pocl/kcache";
  if (std::string home = Environment("HOME"); !home.empty()) return home + "/.cache/pocl/kcache";
  return "";
}

std::string DriverCacheHint(const DeviceInfo& device) {
  const std::string folder = PoclCacheDirectory();
  if (!device.is_pocl || folder.empty()) return "";
  return Cat("; PoCL's cache may be damaged: delete the folder ", folder);
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
