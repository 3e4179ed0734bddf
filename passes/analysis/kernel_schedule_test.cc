// Schedules that are kept for the next pass: taken only where they are what would be made anew.
#include "passes/analysis/kernel_schedule.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/text/parser.h"

namespace tg {
namespace {

constexpr std::string_view kText = R"(tg 1
module @m
buffer @x : f32[32, 30] input
buffer @y : f32[32, 1] output
graph @main {
  %y = buffer @y : f32
  %x = buffer @x : f32
  %k = kernel @sums(%y, %x)
  %a = assign %y, %k : f32
  sink %a
}
kernel @sums : kernel {schedule = [upcast(i0, 4)]} {
  %0 = define_global {arg = 0} : ptr<f32, 32>
  %1 = reshape %0 {shape = [32, 1]} : ptr<f32, 32>
  %2 = define_global {arg = 1} : ptr<f32, 960>
  %3 = reshape %2 {shape = [32, 30]} : ptr<f32, 960>
  %4 = load %3 : f32
  %5 = reduce_axis %4 {op = add, axes = [1]} : f32
  %6 = store %1, %5
  sink %6
}
)";

class CachedScheduleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Diagnostics diagnostics;
    module_ = ParseModule(kText, "m.uop", diagnostics);
    ASSERT_NE(module_, nullptr) << diagnostics.ToString();
    calls_ = std::make_unique<KernelCalls>(*module_);
  }
  Kernel& kernel() { return *module_->kernels[0]; }
  Schedule Make(const Kernel& kernel) {
    ShapeMap shapes(*module_, *kernel.body.context);
    return *MakeSchedule(*module_, *calls_, kernel, target_, shapes);
  }
  Schedule Take() {
    ShapeMap shapes(*module_, *kernel().body.context);
    return *TakeSchedule(*module_, *calls_, kernel(), target_, shapes);
  }
  const UOp* ReduceOf(const Schedule& s) { return s.base.back().reduce; }
  // The schedule of other directives, which nobody would make: what gives it back has kept it.
  Schedule Marked() {
    Schedule s = Make(kernel());
    EXPECT_TRUE(ApplyDirective(s, {"unroll", {{"r0", 0}, {"", 5}}}, target_).ok());
    return s;
  }
  static constexpr size_t kAxes = 3, kMarkedAxes = 4;

  const Target target_ = *FindTarget("cl-cpu");
  std::unique_ptr<Module> module_;
  std::unique_ptr<KernelCalls> calls_;
};

TEST_F(CachedScheduleTest, IsTakenOnce) {
  CacheSchedule(kernel(), target_, Marked(), kernel().body);
  EXPECT_EQ(Take().axes.size(), kMarkedAxes);
  EXPECT_EQ(Take().axes.size(), kAxes);
}

TEST_F(CachedScheduleTest, AsksCallsOfNow) {
  CacheSchedule(kernel(), target_, Make(kernel()), kernel().body);
  kernel().name = "other";
  const KernelCalls calls(*module_);
  ShapeMap shapes(*module_, *kernel().body.context);
  const Schedule s = *TakeSchedule(*module_, calls, kernel(), target_, shapes);
  EXPECT_EQ(s.calls, &calls);
  EXPECT_EQ(s.kernel, "other");
}

TEST_F(CachedScheduleTest, OfACopyNamesTheKernelsNodes) {
  Kernel copy;
  copy.name = kernel().name;
  copy.directives = kernel().directives;
  CloneBody(kernel().body, copy.body);
  Schedule s = Make(copy);
  ASSERT_NE(ReduceOf(s), ReduceOf(Make(kernel())));
  CacheSchedule(kernel(), target_, std::move(s), copy.body);
  EXPECT_EQ(ReduceOf(Take()), ReduceOf(Make(kernel())));
}

TEST_F(CachedScheduleTest, IsNotThatOfOtherOpts) {
  CacheSchedule(kernel(), target_, Marked(), kernel().body);
  kernel().directives.clear();
  EXPECT_EQ(Take().axes.size(), 2u);
}

TEST_F(CachedScheduleTest, IsNotThatOfAnotherTarget) {
  CacheSchedule(kernel(), *FindTarget("cl-gpu"), Marked(), kernel().body);
  EXPECT_EQ(Take().axes.size(), kAxes);
}

TEST_F(CachedScheduleTest, IsNotThatOfAnotherBody) {
  CacheSchedule(kernel(), target_, Marked(), kernel().body);
  Builder b(*kernel().body.context);
  const UOp* store = kernel().body.root->src(0);
  const UOp* twice = b.Add(store->src(1), store->src(1));
  const UOp* other = b.Store(store->src(0), twice);
  kernel().body.root = b.Sink(UOpSpan(&other, 1));
  EXPECT_EQ(Take().axes.size(), kAxes);
}

// The root of a body in another context may have the address of a freed root.
TEST_F(CachedScheduleTest, IsNotThatOfAnotherContext) {
  CacheSchedule(kernel(), target_, Marked(), kernel().body);
  const std::unique_ptr<Context> first =
      std::exchange(kernel().body.context, std::make_unique<Context>());
  EXPECT_EQ(Take().axes.size(), kAxes);
}

}  // namespace
}  // namespace tg
