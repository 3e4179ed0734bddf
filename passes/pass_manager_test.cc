#include "passes/pass_manager.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text/printer.h"
#include "ir/text/testing.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/pass_registry.h"
#include "passes/testing/test_passes.h"

namespace tg::passes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kText[] = R"(tg 1
module @m
buffer @x : f32[4] input
buffer @y : f32[4] output

graph @main {
  %x = buffer @x : f32
  %0 = mul %x, %x : f32
  sink %0 -> @y
}
)";

Pipeline MakeTestPipeline(std::string_view text) {
  PassRegistry registry;
  registry.AddAll(testing::kTestPasses);
  absl::StatusOr<Pipeline> pipeline = ParsePipeline(text, registry);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return *std::move(pipeline);
}

// Writes down what it is told.
class Recorder : public PassObserver {
 public:
  explicit Recorder(std::vector<std::string>& events) : events_(events) {}
  absl::Status Start(const Pipeline&, const Module& module) override {
    return Event("start @" + module.name);
  }
  absl::Status BeforePass(const PassRun& run, const Module& module) override {
    return Event("before " + run.Title() + " @" + module.name);
  }
  absl::Status AfterPass(const PassRun& run, const Module& module) override {
    return Event("after " + run.Title() + " @" + module.name);
  }
  std::string Failed(const PassRun& run, const Module& module, const absl::Status&) override {
    (void)Event("failed " + run.Title() + " @" + module.name);
    return "; noted";
  }
  void Finish() override { (void)Event("finish"); }

 private:
  absl::Status Event(std::string event) {
    events_.push_back(std::move(event));
    return absl::OkStatus();
  }
  std::vector<std::string>& events_;
};

TEST(PassManager, RunsPassesInOrderAndTellsObservers) {
  const auto module = ParseOrFail(kText);
  PassManager manager(MakeTestPipeline("test-rename:suffix=_a,test-rename:suffix=_b"));
  std::vector<std::string> events;
  manager.AddObserver(std::make_unique<Recorder>(events));
  ASSERT_TRUE(manager.Run(*module).ok());
  EXPECT_EQ(module->name, "m_a_b");
  EXPECT_THAT(events, ElementsAre("start @m",                                        //
                                  "before test-rename:suffix=_a (pass 1 of 2) @m",   //
                                  "after test-rename:suffix=_a (pass 1 of 2) @m_a",  //
                                  "before test-rename:suffix=_b (pass 2 of 2) @m_a",
                                  "after test-rename:suffix=_b (pass 2 of 2) @m_a_b", "finish"));
}

TEST(PassManager, AddsUpStatisticsAndRemarks) {
  const auto module = ParseOrFail(kText);
  std::string log;
  llvm::raw_string_ostream out(log);
  PassManagerOptions options;
  options.log = &out;
  PassManager manager(MakeTestPipeline("test-rename:times=3:explain,test-nothing,test-rename"),
                      options);
  ASSERT_TRUE(manager.Run(*module).ok());
  EXPECT_EQ(manager.report().statistics.at("test-rename.renamed"), 4);
  const char kRemark[] = "test-rename: the module is now @m_renamed_renamed_renamed for cl-cpu\n";
  EXPECT_EQ(manager.report().remarks, kRemark);
  EXPECT_EQ(out.str(), kRemark);
  ASSERT_EQ(manager.report().rows.size(), 3u);
  EXPECT_EQ(manager.report().rows[0].step, "test-rename:times=3:explain");
}

TEST(PassManager, TargetIsTheModulesUnlessGiven) {
  const auto module = ParseOrFail(kText);
  module->target = "cl-intel";
  PassManager manager(MakeTestPipeline("test-rename:explain"));
  ASSERT_TRUE(manager.Run(*module).ok());
  EXPECT_THAT(manager.report().remarks, HasSubstr("for cl-intel"));

  const Target adreno = *FindTarget("cl-adreno");
  PassManagerOptions options;
  options.target = &adreno;
  PassManager other(MakeTestPipeline("test-rename:explain"), options);
  ASSERT_TRUE(other.Run(*module).ok());
  EXPECT_THAT(other.report().remarks, HasSubstr("for cl-adreno"));
}

TEST(PassManager, UnknownTargetIsAnErrorBeforeAnyPass) {
  const auto module = ParseOrFail(kText);
  module->target = "abacus";
  PassManager manager(MakeTestPipeline("test-rename"));
  EXPECT_THAT(std::string(manager.Run(*module).message()), HasSubstr("unknown target 'abacus'"));
  EXPECT_EQ(module->name, "m");
}

TEST(PassManager, BisectRunsTheFirstPassesOnly) {
  for (int64_t limit = 0; limit <= 3; ++limit) {
    const auto module = ParseOrFail(kText);
    std::string log;
    llvm::raw_string_ostream out(log);
    PassManagerOptions options;
    options.bisect_limit = limit;
    options.log = &out;
    PassManager manager(MakeTestPipeline("test-rename:suffix=1,test-rename:suffix=2"), options);
    ASSERT_TRUE(manager.Run(*module).ok());
    EXPECT_EQ(module->name, limit == 0 ? "m" : limit == 1 ? "m1" : "m12");
    EXPECT_THAT(out.str(), StartsWith(limit == 0 ? "BISECT: NOT running pass (1) "
                                                   "test-rename:suffix=1 on module @m\n"
                                                 : "BISECT: running pass (1) "
                                                   "test-rename:suffix=1 on module @m\n"));
    EXPECT_THAT(out.str(),
                HasSubstr(limit < 2 ? "BISECT: NOT running pass (2)" : "BISECT: running pass (2)"));
  }
}

TEST(PassManager, AnErrorNamesThePassAndEndsTheRun) {
  const auto module = ParseOrFail(kText);
  PassManager manager(MakeTestPipeline("test-nothing,test-fail,test-rename"));
  std::vector<std::string> events;
  manager.AddObserver(std::make_unique<Recorder>(events));
  const absl::Status status = manager.Run(*module);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "test-fail (pass 2 of 3): tests want an error here; noted");
  EXPECT_EQ(module->name, "m_half_done");
  EXPECT_THAT(events, ElementsAre("start @m", "before test-nothing (pass 1 of 3) @m",
                                  "after test-nothing (pass 1 of 3) @m",
                                  "before test-fail (pass 2 of 3) @m",
                                  "failed test-fail (pass 2 of 3) @m_half_done", "finish"));
}

TEST(PassManager, VerifiesAfterEachPass) {
  auto module = ParseOrFail(kText);
  PassManager manager(MakeTestPipeline("test-nothing,test-invalid,test-nothing"));
  const absl::Status status = manager.Run(*module);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("test-invalid (pass 2 of 3): the module is not valid after this pass: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("@y"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("\n  this is a fault of tg; please report it with the input file"));

  module = ParseOrFail(kText);
  PassManagerOptions options;
  options.verify_each = false;
  PassManager lax(MakeTestPipeline("test-nothing,test-invalid,test-nothing"), options);
  EXPECT_TRUE(lax.Run(*module).ok());
}

// Ends a run before or after a pass.
class Objector : public PassObserver {
 public:
  explicit Objector(bool before) : before_(before) {}
  absl::Status BeforePass(const PassRun&, const Module&) override { return Object(before_); }
  absl::Status AfterPass(const PassRun&, const Module&) override { return Object(!before_); }

 private:
  static absl::Status Object(bool object) {
    return object ? absl::DataLossError("an objection") : absl::OkStatus();
  }
  const bool before_;
};

TEST(PassManager, ObserversCanEndTheRun) {
  for (const bool before : {true, false}) {
    const auto module = ParseOrFail(kText);
    PassManager manager(MakeTestPipeline("test-rename,test-rename"));
    manager.AddObserver(std::make_unique<Objector>(before));
    const absl::Status status = manager.Run(*module);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(status.message(), "test-rename (pass 1 of 2): an objection");
    EXPECT_EQ(module->name, before ? "m" : "m_renamed");
  }
}

TEST(PassManager, RunsAgain) {
  PassManager manager(MakeTestPipeline("test-rename"));
  for (int i = 0; i < 2; ++i) {
    const auto module = ParseOrFail(kText);
    ASSERT_TRUE(manager.Run(*module).ok());
    EXPECT_EQ(manager.report().statistics.at("test-rename.renamed"), 1);
  }
}

}  // namespace
}  // namespace tg::passes
