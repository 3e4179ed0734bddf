#include "passes/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace tg::passes {
namespace {
// Jobs for each thread, at least: fewer are not worth starting a thread.
constexpr size_t kMinJobs = 3;
}  // namespace

ThreadPool::ThreadPool(int threads)
    : threads_(threads > 0 ? static_cast<size_t>(threads)
                           : std::max(1u, std::thread::hardware_concurrency())) {}

void ThreadPool::ForEach(size_t n, llvm::function_ref<void(size_t)> job) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < n;) job(i);
  };
  std::vector<std::thread> others;
  while (others.size() + 1 < std::min(threads_, n / kMinJobs)) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
}

}  // namespace tg::passes
