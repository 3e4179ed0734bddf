#include "runtime/cpu/worker_pool.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tg::cpu {
namespace {

// How often each number of [0, n) is in a range of one run.
std::vector<int> Visits(WorkerPool& pool, int64_t n) {
  std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
  pool.Run(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
  });
  return {visits.begin(), visits.end()};
}

TEST(WorkerPool, VisitsEverythingOnce) {
  for (const int threads : {1, 2, 5}) {
    WorkerPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t n : {0, 1, 2, 3, 17, 1000, 100003}) {
      EXPECT_EQ(Visits(pool, n), std::vector<int>(static_cast<size_t>(n), 1)) << n;
    }
  }
}

// A thread that is late for a round must not do work of the next one twice, nor miss its own.
TEST(WorkerPool, RoundsFollowEachOther) {
  WorkerPool pool(4);
  int64_t sum = 0;
  for (int64_t round = 0; round < 20000; ++round) {
    std::atomic<int64_t> mine = 0;
    const int64_t n = 2 + round % 7;
    pool.Run(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) mine += i + round;
    });
    sum += mine - (n * (n - 1) / 2 + n * round);
  }
  EXPECT_EQ(sum, 0);
}

// One range waits until all others are done, so that another thread has to take the rest of the
// share that it is in.
TEST(WorkerPool, WhatAThreadHasNotBegunIsTakenByOthers) {
  WorkerPool pool(2);
  for (const int64_t slow : {0, 15, 16, 31}) {
    std::atomic<int64_t> done = 0;
    pool.Run(32, [&](int64_t begin, int64_t end) {
      if (begin <= slow && slow < end) {
        while (done < 32 - (end - begin)) std::this_thread::yield();
      }
      done += end - begin;
    });
    EXPECT_EQ(done, 32);
  }
}

TEST(WorkerPool, AThreadThatFindsItBusyWorksAlone) {
  WorkerPool pool(3);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (Visits(pool, 50) != std::vector<int>(50, 1)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadScratch, IsAlignedAndGrows) {
  for (const size_t bytes : {0u, 1u, 1000u, 100000u, 10u}) {
    auto* memory = static_cast<unsigned char*>(ThreadScratch(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    for (size_t i = 0; i < bytes; ++i) memory[i] = 1;
  }
}

}  // namespace
}  // namespace tg::cpu
