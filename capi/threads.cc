#include "capi/threads.h"

#include <atomic>

#include "base/status.h"
#include "runtime/cpu/processor.h"

namespace tg::capi {
namespace {

constexpr int kMaxThreads = 4096;

std::atomic<int> wanted_threads = 0;

}  // namespace

int Threads() { return wanted_threads; }

absl::Status SetThreads(int threads) {
  if (threads < 0 || threads > kMaxThreads) {
    return InvalidArgument(threads, " threads, which is not between 0 and ", kMaxThreads);
  }
  if (!cpu::SetUsableProcessors(threads)) {
    return absl::FailedPreconditionError(
        "the number of threads is set before a model is opened and devices are listed");
  }
  wanted_threads = threads;
  return absl::OkStatus();
}

}  // namespace tg::capi
