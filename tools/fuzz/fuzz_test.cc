// A bounded run of tg-fuzz. $TG_FUZZ_SEED selects other graphs, $TG_FUZZ_SCALE multiplies their
// number.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/interpret/compare_values.h"
#include "passes/simplify/simplify.h"
#include "tools/fuzz/check_program.h"
#include "tools/fuzz/device_run.h"
#include "tools/fuzz/rule_templates.h"
#include "tools/fuzz/worker.h"

namespace tg::fuzz {
namespace {

int64_t Number(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

// Number of graphs of one test.
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

void Expect(const WorkResult& result, const std::string& flags) {
  for (const SeedFailure& f : result.failures) {
    ADD_FAILURE() << f.pass << ": " << f.message << "\n  tg-fuzz --seed=" << f.seed << " " << flags;
  }
}

// The graphs of one block: of all kinds, or of narrow integers.
struct Block {
  int number;
  bool narrow = false;
};

std::vector<Block> Blocks(int any, int narrow) {
  std::vector<Block> blocks;
  for (int i = 0; i < any; ++i) blocks.push_back({i});
  for (int i = 0; i < narrow; ++i) blocks.push_back({i, true});
  return blocks;
}

std::string BlockName(const ::testing::TestParamInfo<Block>& block) {
  return (block.param.narrow ? "Narrow" : "") + std::to_string(block.param.number);
}

class Fuzz : public ::testing::TestWithParam<Block> {
 protected:
  testing::RandomGraphOptions Graphs() const {
    testing::RandomGraphOptions generate;
    generate.templates = rules_;
    generate.narrow = GetParam().narrow;
    return generate;
  }
  // The flags with which tg-fuzz repeats a graph of the test.
  std::string Flags(std::string flags) const {
    return flags + (GetParam().narrow ? " --narrow" : "");
  }

 private:
  const std::vector<testing::RootTemplate> rules_ = RuleTemplates(simplify::SimplifyRules());
};

TEST_P(Fuzz, EveryPassKeepsWhatTheGraphComputes) {
  const testing::RandomGraphOptions generate = Graphs();
  const WorkResult result =
      RunIsolated(Work(GetParam().number, kBlock), [&](uint64_t seed, Worker& worker) {
        CheckOptions options;
        options.seed = seed;
        options.progress = [&](std::string_view step) { worker.Step(step); };
        const Outcome outcome =
            Check(testing::MakeRandomProgram(seed, generate), options, &worker.coverage());
        if (outcome.failure) worker.Fail(outcome.failure->pass, outcome.failure->message);
      });
  Expect(result, Flags("--trace"));
  // Checks that the comparison is meaningful.
  EXPECT_EQ(result.coverage.graphs(), static_cast<uint64_t>(kBlock * Number("TG_FUZZ_SCALE", 1)));
}
INSTANTIATE_TEST_SUITE_P(Block, Fuzz, ::testing::ValuesIn(Blocks(15, 3)), BlockName);

// In-place writes through chains of views: all passes on a few of them, kernelize on more.
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

// Sums of products, which get blocks for registers and caches.
TEST(FuzzContractions, EveryPassComputesTheSums) {
  testing::RandomGraphOptions generate;
  generate.contractions = true;
  const WorkResult result = RunIsolated(Work(0, 300), [&](uint64_t seed, Worker& worker) {
    CheckOptions options;
    options.seed = seed;
    options.target = seed % 2 == 0 ? "cl-cpu" : "cl-cpu-avx2";
    options.passes = {"lower"};
    options.progress = [&](std::string_view step) { worker.Step(step); };
    const Outcome outcome =
        Check(testing::MakeRandomProgram(seed, generate), options, &worker.coverage());
    if (outcome.failure) worker.Fail(outcome.failure->pass, outcome.failure->message);
  });
  Expect(result, "--contractions --trace");
  EXPECT_GE(result.coverage.graphs(), 300u);
}

// A random schedule makes no more work than the interpreter can do: in this one each work-item
// would fill copies of whole values.
TEST(FuzzContractions, SchedulesEndSoon) {
  testing::RandomGraphOptions generate;
  generate.contractions = true;
  WorkOptions work;
  work.first = 141002018;
  work.count = 1;
  const WorkResult result = RunIsolated(work, [&](uint64_t seed, Worker& worker) {
    CheckOptions options;
    options.seed = seed;
    options.target = "cl-nvidia-sm90";
    options.progress = [&](std::string_view step) { worker.Step(step); };
    const Outcome outcome =
        Check(testing::MakeRandomProgram(seed, generate), options, &worker.coverage());
    if (outcome.failure) worker.Fail(outcome.failure->pass, outcome.failure->message);
  });
  Expect(result, "--contractions --target=cl-nvidia-sm90 --trace");
}

class FuzzOnDevice : public Fuzz {
 protected:
  static std::string DeviceName() {
    const char* wish = std::getenv("TG_DEVICE");
    return wish ? wish : "cpu";
  }
  static void ChooseTarget(bool gpu, CheckOptions& options) {
    const passes::Target own = TargetFor(DeviceName());
    // cl-plain is as cl-gpu, for a device without functions.
    if (gpu) options.target = own.name.starts_with("cpu-") ? "cl-plain" : "cl-gpu";
    if (!gpu) options.device_target = own;
  }
};

TEST_P(FuzzOnDevice, SameAsTheInterpreter) {
  const testing::RandomGraphOptions generate = Graphs();
  const bool gpu = GetParam().number % 3 == 2;
  std::optional<absl::StatusOr<DeviceRunner>> runner;
  WorkOptions work = Work(GetParam().number, kDeviceBlock);
  work.first += 1000000;
  const WorkResult result = RunIsolated(work, [&](uint64_t seed, Worker& worker) {
    CheckOptions options;
    options.seed = seed;
    ChooseTarget(gpu, options);
    options.text = false;
    options.passes = {"linearize"};
    options.progress = [&](std::string_view step) { worker.Step(step); };
    const testing::RandomProgram program = testing::MakeRandomProgram(seed, generate);
    Outcome outcome = Check(program, options, &worker.coverage());
    if (outcome.failure) worker.Fail(outcome.failure->pass, outcome.failure->message);
    if (!outcome.compiled) return;
    worker.Step("device");
    if (!runner) runner = DeviceRunner::Open(DeviceName());
    if (!runner->ok()) return worker.Fail("device", std::string(runner->status().message()));
    const auto actual =
        (*runner)->Run(std::move(outcome.compiled), outcome.target, program, outcome.expected);
    if (!actual.ok()) return worker.Fail("device", std::string(actual.status().message()));
    if (const auto difference = interpret::Difference(outcome.expected, *actual)) {
      worker.Fail("device", *difference);
    }
  });
  CheckOptions chosen;
  ChooseTarget(gpu, chosen);
  Expect(result, Flags("--device=" + DeviceName() + (gpu ? " --target=" + chosen.target : "")));
}
INSTANTIATE_TEST_SUITE_P(Block, FuzzOnDevice, ::testing::ValuesIn(Blocks(6, 3)), BlockName);

}  // namespace
}  // namespace tg::fuzz
