// Fields that are fitted to times which another target predicts.
#include "runtime/search/fit_target.h"

#include <gtest/gtest.h>

#include "base/cat.h"
#include "ir/kernel_calls.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/schedule/schedule_file.h"
#include "runtime/search/space.h"

namespace tg::search {
namespace {

// Sums of products, of `rows` by `terms`.
std::string SumsText(int rows, int terms) {
  return Cat(R"(tg 1
module @m {target = "cl-cpu"}
buffer @a : f32[)",
             rows, ", ", terms, R"(] input
buffer @b : f32[)",
             rows, ", ", terms, R"(] input
buffer @y : f32[)",
             rows, R"(, 1] output

graph @main {
  %a = buffer @a : f32
  %b = buffer @b : f32
  %0 = mul %a, %b : f32
  %1 = reduce_axis %0 {op = add, axes = [1]} : f32
  sink %1 -> @y
}
)");
}

struct FakeRecord {
  std::vector<Measurement> measurements;
  std::vector<RecordedKernel> kernels;
};

// The kernel with the times that `target` predicts.
void AddKernel(const std::string& text, const passes::Target& target, FakeRecord& record) {
  Diagnostics diagnostics;
  const auto module = ParseModule(text, "m", diagnostics);
  ASSERT_TRUE(module != nullptr) << diagnostics.ToString();
  passes::PassManagerOptions options;
  options.target = &target;
  const passes::Pipeline all = passes::MakePipeline(passes::kPipeline);
  ASSERT_TRUE(passes::PassManager({all[0]}, options).Run(*module).ok());
  ASSERT_EQ(module->kernels.size(), 1u);
  const std::string key = schedule::KernelKey(module->kernels[0]->body);
  record.kernels.push_back({key, module->kernels[0]->name, PrintModule(*module)});
  const KernelCalls calls(*module);
  Space space(*module, calls, *module->kernels[0], target);
  std::vector<Candidate> candidates = space.Neighbours(space.first());
  candidates.push_back(space.first());
  for (const Candidate& c : candidates) {
    record.measurements.push_back({key, target.name, "d", space.KeyOf(c),
                                   schedule::DirectivesText(c.directives), Outcome::kMeasured, 0,
                                   c.predicted_seconds, space.first().predicted_seconds, ""});
  }
}

TEST(FitTarget, FindsFieldsByWhichTimesArePredicted) {
  const passes::Target base = *passes::FindTarget("cl-cpu");
  passes::Target truth = base;
  truth.not_overlapped = 0.9;
  truth.not_hidden = 0.8;
  FakeRecord record;
  for (const auto& [rows, terms] : {std::pair(64, 96), std::pair(512, 512), std::pair(2000, 300),
                                    std::pair(33, 5000), std::pair(4096, 64), std::pair(7, 7777)}) {
    AddKernel(SumsText(rows, terms), truth, record);
  }
  const auto fit = FitTarget(record.measurements, record.kernels, base);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_FALSE(fit->changed.empty());
  EXPECT_EQ(fit->fitted_before.kernels, 3u);
  EXPECT_EQ(fit->other_before.kernels, 3u);
  EXPECT_GT(fit->other_before.schedules, 20u);
  EXPECT_GT(fit->other_before.median, 0.05);
  EXPECT_LT(fit->fitted_after.median, fit->fitted_before.median / 2);
  EXPECT_LT(fit->other_after.median, fit->other_before.median / 2);
  // Only fitted fields change.
  EXPECT_EQ(fit->target.flops_per_second, base.flops_per_second);

  // What is predicted already is left as it is.
  const auto same = FitTarget(record.measurements, record.kernels, truth);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_TRUE(same->changed.empty());
  EXPECT_LT(same->other_before.median, 1e-9);
}

TEST(FitTarget, NeedsKernels) {
  FakeRecord record;
  const passes::Target target = *passes::FindTarget("cl-cpu");
  for (const int rows : {16, 32, 64}) AddKernel(SumsText(rows, 100), target, record);
  const auto fit = FitTarget(record.measurements, record.kernels, target);
  EXPECT_EQ(fit.status().message(),
            "the record has 3 kernels of target cl-cpu with measured times; a fit needs 4");
}

}  // namespace
}  // namespace tg::search
