#include "runtime/search/sqlite_record.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace tg::search {
namespace {

std::string FileOf(const std::string& name) {
  const std::string path = ::testing::TempDir() + "/" + name + ".sqlite";
  ::unlink(path.c_str());
  return path;
}

Measurement Make(const std::string& kernel, const std::string& directives) {
  return {kernel, "t", "d", kernel, directives, Outcome::kMeasured, 1e-3, 0.5, 1.25, "w"};
}

TEST(SqliteRecord, IsThereAfterItWasClosed) {
  const std::string path = FileOf("closed");
  {
    const auto record = SqliteRecord::Open(path);
    ASSERT_TRUE(record.ok()) << record.status();
    ASSERT_TRUE((*record)->Add(Make("a", "loop(i0)")).ok());
    ASSERT_TRUE((*record)->Add(Make("a", "it's \"one\"")).ok());
    ASSERT_TRUE((*record)->Add(Make("b", "loop(i0)")).ok());
    Measurement again = Make("b", "loop(i0)");
    again.outcome = Outcome::kHung;
    ASSERT_TRUE((*record)->Add(again).ok());
    ASSERT_TRUE((*record)->AddKernel({"b", "old", ""}).ok());
    ASSERT_TRUE((*record)->AddKernel({"b", "name", "tg 1\n"}).ok());
  }
  const auto record = SqliteRecord::Open(path);
  ASSERT_TRUE(record.ok()) << record.status();
  const auto all = (*record)->All();
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[0].directives, "it's \"one\"");
  EXPECT_EQ((*all)[1].predicted_seconds, 1e-3);
  EXPECT_EQ((*all)[1].seconds, 0.5);
  EXPECT_EQ((*all)[1].first_seconds, 1.25);
  EXPECT_EQ((*all)[1].what, "w");
  EXPECT_EQ((*all)[2].outcome, Outcome::kHung);
  EXPECT_EQ((*record)->Of("a", "t", "d")->size(), 2u);
  EXPECT_EQ((*record)->Of("a", "t", "x")->size(), 0u);
  const auto kernels = (*record)->Kernels();
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ((*kernels)[0].name, "name");
  EXPECT_EQ((*kernels)[0].module, "tg 1\n");
}

TEST(SqliteRecord, WhatWasAddedOutlivesAKilledProcess) {
  const std::string path = FileOf("killed");
  const pid_t child = ::fork();
  if (child == 0) {
    const auto record = SqliteRecord::Open(path);
    if (!record.ok() || !(*record)->Add(Make("a", "loop(i0)")).ok()) ::_exit(1);
    ::raise(SIGKILL);
  }
  int state = 0;
  ::waitpid(child, &state, 0);
  ASSERT_TRUE(WIFSIGNALED(state));
  const auto record = SqliteRecord::Open(path);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ((*record)->All()->size(), 1u);
}

TEST(SqliteRecord, ProcessesAndThreadsWriteAtOnce) {
  const std::string path = FileOf("shared");
  constexpr int kProcesses = 3, kThreads = 2, kEach = 20;
  for (int p = 0; p < kProcesses; ++p) {
    if (::fork() != 0) continue;
    const auto record = SqliteRecord::Open(path);
    bool ok = record.ok();
    std::vector<std::thread> threads;
    std::vector<int> failed(kThreads);
    for (int t = 0; ok && t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          const std::string directives =
              std::to_string(p) + " " + std::to_string(t) + " " + std::to_string(i);
          failed[static_cast<size_t>(t)] += !(*record)->Add(Make("a", directives)).ok();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const int count : failed) ok = ok && count == 0;
    ::_exit(ok ? 0 : 1);
  }
  int state = 0;
  while (::wait(&state) > 0) EXPECT_EQ(state, 0);
  const auto record = SqliteRecord::Open(path);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ((*record)->All()->size(), size_t{kProcesses * kThreads * kEach});
}

// A limit on the size of files is like a full disk.
TEST(SqliteRecord, FullDiskIsAnErrorAndLosesNothing) {
  const std::string path = FileOf("full");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto record = SqliteRecord::Open(path);
    if (!record.ok()) ::_exit(2);
    for (int i = 0; i < 10000; ++i) {
      const absl::Status status =
          (*record)->Add(Make("a", std::string(1000, 'x') + std::to_string(i)));
      if (status.ok()) continue;
      const std::string message(status.message());
      ::_exit(i > 10 && message.find("cannot write " + path) == 0 ? 0 : 3);
    }
    ::_exit(4);
  }
  int state = 0;
  ::waitpid(child, &state, 0);
  EXPECT_EQ(WEXITSTATUS(state), 0);
  const auto record = SqliteRecord::Open(path);
  ASSERT_TRUE(record.ok()) << record.status();
  const auto all = (*record)->All();
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_GT(all->size(), 10u);
}

TEST(SqliteRecord, OtherFilesAreErrors) {
  const std::string text = FileOf("text");
  std::ofstream(text) << std::string(2000, 'x');
  const auto record = SqliteRecord::Open(text);
  ASSERT_FALSE(record.ok());
  EXPECT_NE(record.status().message().find(text), absl::string_view::npos);
  EXPECT_FALSE(SqliteRecord::Open(::testing::TempDir() + "/no/such/folder").ok());
}

}  // namespace
}  // namespace tg::search
