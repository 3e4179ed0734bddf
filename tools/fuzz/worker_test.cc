#include "tools/fuzz/worker.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "gtest/gtest.h"

namespace tg::fuzz {
namespace {

WorkOptions Seeds(uint64_t first, uint64_t count) {
  WorkOptions options;
  options.first = first;
  options.count = count;
  return options;
}

TEST(Worker, RunsEverySeedOnceAndCollectsCounts) {
  const WorkResult result = RunIsolated(Seeds(7, 600), [](uint64_t seed, Worker& worker) {
    worker.coverage().Count("seeds");
    if (seed == 100) worker.Fail("pass", "two\nlines");
  });
  EXPECT_EQ(result.seeds, 600u);
  EXPECT_NE(result.coverage.Table().find("600  seeds"), std::string::npos);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].seed, 100u);
  EXPECT_EQ(result.failures[0].pass, "pass");
  EXPECT_EQ(result.failures[0].message, "two\nlines");
}

TEST(Worker, ACrashIsTheFailureOfItsSeed) {
  const WorkResult result = RunIsolated(Seeds(0, 10), [](uint64_t seed, Worker& worker) {
    worker.Step("lower");
    if (seed != 4) return;
    std::fprintf(stderr, "file.cc:1: broken\n");
    std::abort();
  });
  EXPECT_EQ(result.seeds, 10u);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].seed, 4u);
  EXPECT_EQ(result.failures[0].pass, "lower");
  EXPECT_EQ(result.failures[0].message, "died: Aborted: file.cc:1: broken");
}

TEST(Worker, AnEndlessSeedIsStopped) {
  WorkOptions options = Seeds(0, 3);
  options.seconds_per_seed = 1;
  const WorkResult result = RunIsolated(options, [](uint64_t seed, Worker& worker) {
    worker.Step("simplify");
    for (volatile int computes = 0; seed == 1;) computes = 1 - computes;
    while (seed == 2) pause();
  });
  ASSERT_EQ(result.failures.size(), 2u);
  EXPECT_EQ(result.failures[0].seed, 1u);
  EXPECT_EQ(result.failures[0].message, "does not end within 1 s");
  EXPECT_EQ(result.failures[1].seed, 2u);
  EXPECT_EQ(result.failures[1].message, "does not end within 1 s");
}

TEST(Worker, EnoughFailuresEndTheRun) {
  WorkOptions options = Seeds(0, 100);
  options.max_failures = 3;
  const WorkResult result = RunIsolated(options, [](uint64_t, Worker&) { std::abort(); });
  EXPECT_EQ(result.failures.size(), 3u);
  EXPECT_EQ(result.seeds, 3u);
  const WorkResult said =
      RunIsolated(options, [](uint64_t, Worker& worker) { worker.Fail("lower", "wrong"); });
  EXPECT_EQ(said.failures.size(), 3u);
  EXPECT_EQ(said.seeds, 3u);
}

TEST(Worker, KindsOfFailures) {
  const auto kind = [](const char* message) { return FailureKind({0, "lower", message}); };
  EXPECT_EQ(kind("buffer @y, element [0]: expected 1, got 2; 1 of 3 differ"),
            kind("buffer @x, element [2, 1]: expected 0.5, got nan; 4 of 9 differ"));
  EXPECT_EQ(kind("not valid: error: [V209] contract: no axis 1"),
            kind("not valid: error: [V209] contract: no axis 2"));
  EXPECT_NE(kind("not valid: error: [V209] contract"), kind("not valid: error: [V405] kernel"));
  EXPECT_EQ(kind("kernel @r_2 has 3 axes"), kind("kernel @E_4_5 has 7 axes"));
}

}  // namespace
}  // namespace tg::fuzz
