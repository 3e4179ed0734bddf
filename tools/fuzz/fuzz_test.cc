// A bounded run of tg-fuzz. $TG_FUZZ_SEED gives other graphs, $TG_FUZZ_SCALE more of them.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "gtest/gtest.h"
#include "ir/interpret/compare.h"
#include "passes/simplify/simplify.h"
#include "tools/fuzz/check.h"
#include "tools/fuzz/device_run.h"
#include "tools/fuzz/rule_templates.h"
#include "tools/fuzz/worker.h"

namespace tg::fuzz {
namespace {

int64_t Number(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

// Graphs of one test.
constexpr int64_t kBlock = 250, kDeviceBlock = 16;

WorkOptions Work(int64_t block, int64_t count) {
  WorkOptions work;
  count *= Number("TG_FUZZ_SCALE", 1);
  work.first = static_cast<uint64_t>(Number("TG_FUZZ_SEED", 0) + block * count);
  work.count = static_cast<uint64_t>(count);
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(work.first),
              static_cast<unsigned long long>(work.first + work.count - 1));
  return work;
}

void Expect(const WorkResult& result, const char* flags) {
  for (const SeedFailure& f : result.failures) {
    ADD_FAILURE() << f.pass << ": " << f.message << "\n  tg-fuzz --seed=" << f.seed << " " << flags;
  }
}

class Fuzz : public ::testing::TestWithParam<int> {
 protected:
  const std::vector<testing::RootTemplate> rules_ = RuleTemplates(SimplifyRules());
};

TEST_P(Fuzz, EveryPassKeepsWhatTheGraphComputes) {
  testing::RandomGraphOptions generate;
  generate.templates = rules_;
  const WorkResult result =
      RunIsolated(Work(GetParam(), kBlock), [&](uint64_t seed, Worker& worker) {
        CheckOptions options;
        options.seed = seed;
        options.progress = [&](std::string_view step) { worker.Step(step); };
        const Outcome outcome =
            Check(testing::MakeRandomProgram(seed, generate), options, &worker.coverage());
        if (outcome.failure) worker.Fail(outcome.failure->pass, outcome.failure->message);
      });
  Expect(result, "--trace");
  // The comparison means something.
  EXPECT_EQ(result.coverage.graphs(), static_cast<uint64_t>(kBlock * Number("TG_FUZZ_SCALE", 1)));
}
INSTANTIATE_TEST_SUITE_P(Block, Fuzz, ::testing::Range(0, 15));

// In-place writes through chains of views: all passes on few of them, kernelize on more.
TEST(FuzzWrites, EveryPassWritesWhatTheGraphWrites) {
  testing::RandomGraphOptions generate;
  generate.writes = true;
  for (const bool kernelize : {false, true}) {
    const WorkResult result =
        RunIsolated(Work(kernelize, kernelize ? 2000 : 500), [&](uint64_t seed, Worker& worker) {
          CheckOptions options;
          options.seed = seed;
          if (kernelize) options.passes = {"kernelize"};
          options.progress = [&](std::string_view step) { worker.Step(step); };
          const Outcome outcome =
              Check(testing::MakeRandomProgram(seed, generate), options, &worker.coverage());
          if (outcome.failure) worker.Fail(outcome.failure->pass, outcome.failure->message);
        });
    Expect(result, "--writes --trace");
    EXPECT_GE(result.coverage.graphs(), 500u);
  }
}

class FuzzOnDevice : public Fuzz {};

TEST_P(FuzzOnDevice, SameAsTheInterpreter) {
  testing::RandomGraphOptions generate;
  generate.templates = rules_;
  std::optional<absl::StatusOr<DeviceRunner>> runner;
  WorkOptions work = Work(GetParam(), kDeviceBlock);
  work.first += 1000000;
  const WorkResult result = RunIsolated(work, [&](uint64_t seed, Worker& worker) {
    CheckOptions options;
    options.seed = seed;
    options.target = GetParam() % 3 == 2 ? "cl-gpu" : "cl-cpu";
    options.text = false;
    options.passes = {"hfuse"};
    options.progress = [&](std::string_view step) { worker.Step(step); };
    const testing::RandomProgram program = testing::MakeRandomProgram(seed, generate);
    Outcome outcome = Check(program, options, &worker.coverage());
    if (outcome.failure) worker.Fail(outcome.failure->pass, outcome.failure->message);
    if (!outcome.compiled) return;
    worker.Step("device");
    const char* wish = std::getenv("TG_DEVICE");
    if (!runner) runner = DeviceRunner::Open(wish ? wish : "cpu");
    if (!runner->ok()) return worker.Fail("device", std::string(runner->status().message()));
    const auto actual =
        (*runner)->Run(std::move(outcome.compiled), outcome.target, program, outcome.expected);
    if (!actual.ok()) return worker.Fail("device", std::string(actual.status().message()));
    if (const auto difference = Difference(outcome.expected, *actual)) {
      worker.Fail("device", *difference);
    }
  });
  Expect(result, GetParam() % 3 == 2 ? "--device=cpu --target=cl-gpu" : "--device=cpu");
}
INSTANTIATE_TEST_SUITE_P(Block, FuzzOnDevice, ::testing::Range(0, 6));

}  // namespace
}  // namespace tg::fuzz
