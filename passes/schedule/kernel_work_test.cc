// How often parts of a kernel are executed that are not in all of its loops.
#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "passes/cost/compute_cost.h"
#include "passes/cost/memory_cost.h"
#include "passes/cost/predict_cost.h"
#include "passes/schedule/kernel_facts.h"

namespace tg::schedule {
namespace {

constexpr char kProductOfWindows[] = R"(tg 1
module @m {target = "cl-cpu"}
kernel @windows : kernel {schedule = [SCHEDULE]} {
  %0 = define_global {arg = 0} : ptr<f32, 4096>
  %y = reshape %0 {shape = [64, 64, 1]} : ptr<f32, 4096>
  %1 = define_global {arg = 1} : ptr<f32, 66>
  %2 = reshape %1 {shape = [66]} : ptr<f32, 66>
  %3 = define_global {arg = 2} : ptr<f32, 192>
  %4 = reshape %3 {shape = [1, 64, 3]} : ptr<f32, 192>
  %la = load %2 : f32
  %pa = packed %la : f32
  %r = reshape %pa {shape = [1, 66]} : f32
  %e = expand %r {shape = [4, 66]} : f32
  %f = reshape %e {shape = [264]} : f32
  %c = shrink %f {ranges = [(0, 201)]} : f32
  %w = reshape %c {shape = [3, 67]} : f32
  %ws = shrink %w {ranges = [(0, 3), (0, 64)]} : f32
  %wt = permute %ws {axes = [1, 0]} : f32
  %wr = reshape %wt {shape = [64, 1, 3]} : f32
  %a = expand %wr {shape = [64, 64, 3]} : f32
  %lb = load %4 : f32
  %b = expand %lb {shape = [64, 64, 3]} : f32
  %p = mul %a, %b : f32
  %s = reduce_axis %p {op = add, axes = [2]} : f32
  %st = store %y, %s
  sink %st
}
)";

// A sum whose first and second half are multiplied.
constexpr char kHalvesOfASum[] = R"(tg 1
module @m {target = "cl-cpu"}
kernel @halves : kernel {schedule = [SCHEDULE]} {
  %0 = define_global {arg = 0} : ptr<f32, 4096>
  %y = reshape %0 {shape = [64, 64]} : ptr<f32, 4096>
  %1 = define_global {arg = 1} : ptr<f32, 2048>
  %2 = reshape %1 {shape = [64, 1, 32]} : ptr<f32, 2048>
  %3 = define_global {arg = 2} : ptr<f32, 4096>
  %4 = reshape %3 {shape = [1, 128, 32]} : ptr<f32, 4096>
  %la = load %2 : f32
  %a = expand %la {shape = [64, 128, 32]} : f32
  %lb = load %4 : f32
  %pb = packed %lb : f32
  %b = expand %pb {shape = [64, 128, 32]} : f32
  %p = mul %a, %b : f32
  %s = reduce_axis %p {op = add, axes = [2]} : f32
  %r = reshape %s {shape = [64, 128]} : f32
  %left = shrink %r {ranges = [(0, 64), (0, 64)]} : f32
  %right = shrink %r {ranges = [(0, 64), (64, 128)]} : f32
  %m = mul %left, %right : f32
  %w = store %y, %m
  sink %w
}
)";

// For each of four blocks a sum that is the same for all eight columns, and eight columns.
constexpr char kTuple[] = R"(tg 1
module @m {target = "cl-cpu"}
kernel @tuple : kernel {schedule = [SCHEDULE]} {
  %0 = define_global {arg = 0} : ptr<f32, 128>
  %y = reshape %0 {shape = [16, 8, 1]} : ptr<f32, 128>
  %1 = define_global {arg = 1} : ptr<f32, 2048>
  %2 = reshape %1 {shape = [16, 4, 32]} : ptr<f32, 2048>
  %3 = define_global {arg = 2} : ptr<f32, 512>
  %4 = reshape %3 {shape = [16, 8, 4]} : ptr<f32, 512>
  %lx = load %2 : f32
  %x = reduce_axis %lx {op = add, axes = [2]} : f32
  %xr = reshape %x {shape = [16, 1, 4]} : f32
  %xe = expand %xr {shape = [16, 8, 4]} : f32
  %o = load %4 : f32
  %least = const -inf : f32
  %zero = const 0.0 : f32
  %c0 = carried {arg = 0, shape = []} : f32
  %c1 = carried {arg = 1, shape = []} : f32
  %c2 = carried {arg = 2, shape = []} : f32
  %c3 = carried {arg = 3, shape = []} : f32
  %most = max %c0, %c2 : f32
  %both = add %c1, %c3 : f32
  %sum = mul %both, %most : f32
  %t = reduce_tuple %xe, %o, %least, %zero, %most, %sum {result = 1, axes = [2]} : f32
  %w = store %y, %t
  sink %w
}
)";

class KernelWorkTest : public testing::Test {
 protected:
  void Read(std::string text, std::string_view schedule) {
    text.replace(text.find("SCHEDULE"), 8, schedule);
    Diagnostics diagnostics;
    module_ = ParseModule(text, "m.uop", diagnostics);
    ASSERT_NE(module_, nullptr) << diagnostics.ToString();
    const KernelCalls calls(*module_);
    const Kernel& kernel = *module_->kernels[0];
    KernelFacts facts(*module_, calls, kernel, target_);
    const auto nest = facts.NestOf(kernel.directives);
    ASSERT_TRUE(nest.ok()) << nest.status();
    work_ = cost::WorkOf(facts.kernel().body, *nest, facts.accesses_and_staged(), target_,
                         facts.closed());
  }

  passes::Target target_ = *passes::FindTarget("cl-cpu");
  std::unique_ptr<Module> module_;
  cost::ScheduledWork work_;
};

TEST_F(KernelWorkTest, ACopyIsMadeBeforeALoopInWhichItIsTheSame) {
  // i1.0.0: 2 groups; i1.0.1: 2 steps, along which the windows' operand does not vary.
  Read(kProductOfWindows,
       "vectorize(i1, 16), split(i1.0, 2), loop(i1.0.1), loop(i0), pack(p0, i1.0.1)");
  const cost::Instructions fills = cost::CountInstructions(work_, target_, cost::Part::kFills);
  EXPECT_DOUBLE_EQ(fills.loads, 2 * 66);
  EXPECT_DOUBLE_EQ(fills.stores, 2 * 66 * target_.store_weight);
  // Each element is moved once, whatever the loops over windows and terms.
  target_.near_cache_bytes = 64;
  const cost::MemoryLevel near = cost::MemoryLevels(target_)[0];
  EXPECT_DOUBLE_EQ(cost::BytesMoved(work_, near, target_, cost::Part::kFills),
                   2 * 66 * 4 * (1 + target_.write_traffic));
}

TEST_F(KernelWorkTest, AReduceIsComputedForEachIndexAtWhichItIsRead) {
  Read(kHalvesOfASum, "vectorize(i1, 16), upcast(i0, 8), loop(i0.0), pack(p0, i1.0)");
  const cost::Instructions count = cost::CountInstructions(work_, target_);
  // i1.0: 4 groups; i0.0: 8 steps; 32 terms of each of two sums; 8 rows of a vector of 16 columns.
  EXPECT_DOUBLE_EQ(count.arithmetic, 4.0 * 8 * (2 * 32 * 8 + 8));
  const double fill = 4 * 32 * (1 + 4);
  EXPECT_DOUBLE_EQ(count.loads, 2 * (4.0 * 8 * 32 * (8 + 1) + fill));
}

TEST_F(KernelWorkTest, WhatATupleRepeatsIsComputedOnceForItsResults) {
  Read(kTuple, "loop(i1)");
  const cost::Instructions count = cost::CountInstructions(work_, target_);
  const double sums = 16 * 4 * 32 * 8;  // each addition waits for the one before
  EXPECT_DOUBLE_EQ(count.arithmetic, sums + 16 * 4 * (1 + 2 * 8));
  EXPECT_DOUBLE_EQ(count.loads, 16.0 * 4 * (32 + 8));
}

}  // namespace
}  // namespace tg::schedule
