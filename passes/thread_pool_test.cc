#include "passes/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tg::passes {
namespace {

TEST(ThreadPool, DoEachJobOnce) {
  for (int threads : {0, 1, 2, 7}) {
    ThreadPool workers(threads);
    for (size_t n : {size_t{0}, size_t{1}, size_t{3}, size_t{1000}}) {
      std::vector<std::atomic<int>> times(n);
      workers.ForEach(n, [&](size_t i) { ++times[i]; });
      for (const auto& t : times) EXPECT_EQ(t, 1);
    }
  }
}

}  // namespace
}  // namespace tg::passes
