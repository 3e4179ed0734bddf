// What a kernel of the IR executes, and what that costs.
#include "passes/schedule/kernel_facts.h"

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "passes/cost/compute_cost.h"
#include "passes/cost/memory_cost.h"
#include "passes/cost/predict_cost.h"

namespace tg::schedule {
namespace {

constexpr char kProduct[] = R"(tg 1
module @m {target = "cl-cpu"}
kernel @product : kernel {schedule = [SCHEDULE]} {
  %0 = define_global {arg = 0} : ptr<f32, 8192>
  %y = reshape %0 {shape = [64, 128, 1]} : ptr<f32, 8192>
  %1 = define_global {arg = 1} : ptr<f32, 2048>
  %2 = reshape %1 {shape = [64, 1, 32]} : ptr<f32, 2048>
  %3 = define_global {arg = 2} : ptr<f32, 4096>
  %4 = reshape %3 {shape = [1, 128, 32]} : ptr<f32, 4096>
  %la = load %2 : f32
  %pa = packed %la : f32
  %a = expand %pa {shape = [64, 128, 32]} : f32
  %lb = load %4 : f32
  %pb = packed %lb : f32
  %b = expand %pb {shape = [64, 128, 32]} : f32
  %p = mul %a, %b : f32
  %s = reduce_axis %p {op = add, axes = [2]} : f32
  %w = store %y, %s
  sink %w
}
)";

// Two such sums, of which one operand is the same packed value.
constexpr char kTwoSums[] = R"(tg 1
module @m {target = "cl-cpu"}
kernel @two : kernel {schedule = [SCHEDULE]} {
  %0 = define_global {arg = 0} : ptr<f32, 8192>
  %y = reshape %0 {shape = [64, 128, 1]} : ptr<f32, 8192>
  %1 = define_global {arg = 1} : ptr<f32, 2048>
  %2 = reshape %1 {shape = [64, 1, 32]} : ptr<f32, 2048>
  %3 = define_global {arg = 2} : ptr<f32, 4096>
  %4 = reshape %3 {shape = [1, 128, 32]} : ptr<f32, 4096>
  %5 = define_global {arg = 3} : ptr<f32, 2048>
  %6 = reshape %5 {shape = [64, 1, 32]} : ptr<f32, 2048>
  %la = load %2 : f32
  %a = expand %la {shape = [64, 128, 32]} : f32
  %lc = load %6 : f32
  %c = expand %lc {shape = [64, 128, 32]} : f32
  %lb = load %4 : f32
  %pb = packed %lb : f32
  %b = expand %pb {shape = [64, 128, 32]} : f32
  %p = mul %a, %b : f32
  %s = reduce_axis %p {op = add, axes = [2]} : f32
  %q = mul %c, %b : f32
  %t = reduce_axis %q {op = add, axes = [2]} : f32
  %m = mul %s, %t : f32
  %w = store %y, %m
  sink %w
}
)";

constexpr char kRows[] = R"(tg 1
module @m {target = "cl-cpu"}
kernel @rows : kernel {schedule = [SCHEDULE]} {
  %0 = define_global {arg = 0} : ptr<f32, 8192>
  %y = reshape %0 {shape = [64, 128]} : ptr<f32, 8192>
  %1 = define_global {arg = 1} : ptr<f32, 8192>
  %2 = reshape %1 {shape = [64, 128]} : ptr<f32, 8192>
  %x = load %2 : f32
  %s = reduce_axis %x {op = add, axes = [1]} : f32
  %r = recip %s : f32
  %e = expand %r {shape = [64, 128]} : f32
  %v = mul %x, %e : f32
  %w = store %y, %v
  sink %w
}
)";

constexpr char kHalves[] = R"(tg 1
module @m {target = "cl-nvidia-sm90"}
kernel @halves : kernel {schedule = [SCHEDULE]} {
  %0 = define_global {arg = 0} : ptr<f32, 8192>
  %y = reshape %0 {shape = [64, 128, 1]} : ptr<f32, 8192>
  %1 = define_global {arg = 1} : ptr<f16, 2048>
  %2 = reshape %1 {shape = [64, 1, 32]} : ptr<f16, 2048>
  %3 = define_global {arg = 2} : ptr<f16, 4096>
  %4 = reshape %3 {shape = [1, 128, 32]} : ptr<f16, 4096>
  %la = load %2 : f16
  %pa = packed %la : f16
  %ea = expand %pa {shape = [64, 128, 32]} : f16
  %a = cast %ea : f32
  %lb = load %4 : f16
  %pb = packed %lb : f16
  %eb = expand %pb {shape = [64, 128, 32]} : f16
  %b = cast %eb : f32
  %p = mul %a, %b : f32
  %s = reduce_axis %p {op = add, axes = [2]} : f32
  %w = store %y, %s
  sink %w
}
)";

// Columns of a matrix whose rows are four times as long are read as one axis.
constexpr char kPeriods[] = R"(tg 1
module @m {target = "cl-cpu"}
kernel @periods : kernel {schedule = [SCHEDULE]} {
  %0 = define_global {arg = 0} : ptr<f32, 257>
  %1 = define_global {arg = 1} : ptr<f32, 2048>
  %2 = reshape %1 {shape = [16, 128]} : ptr<f32, 2048>
  %x = load %2 : f32
  %c = shrink %x {ranges = [(0, 16), (0, 32)]} : f32
  %r = reshape %c {shape = [512]} : f32
  %s = shrink %r {ranges = [(0, 257)]} : f32
  %w = store %0, %s
  sink %w
}
)";

// Rows of a table at indices from memory.
constexpr char kGather[] = R"(tg 1
module @m
buffer @i : i32[16] input
buffer @t : f32[5000, 64] input
buffer @o : f32[16, 64] output
graph @main {
  %i = buffer @i : i32
  %t = buffer @t : f32
  %k = kernel @gather(%i, %t)
  sink %k -> @o
}
kernel @gather : kernel {axes = [i0:16 global, i1:64 global, r0:5000 reduce], schedule = [SCHEDULE]} {
  %o = define_global {arg = 0} : ptr<f32, 1024>
  %os = reshape %o {shape = [16, 64]} : ptr<f32, 1024>
  %i = define_global {arg = 1} : ptr<i32, 16>
  %is = reshape %i {shape = [16]} : ptr<i32, 16>
  %index = load %is : i32
  %ir = reshape %index {shape = [16, 1, 1]} : i32
  %ie = expand %ir {shape = [16, 64, 5000]} : i32
  %io = iota {size = 5000} : index
  %n = cast %io : i32
  %nr = reshape %n {shape = [1, 1, 5000]} : i32
  %ne = expand %nr {shape = [16, 64, 5000]} : i32
  %t = define_global {arg = 2} : ptr<f32, 320000>
  %ts = reshape %t {shape = [5000, 64]} : ptr<f32, 320000>
  %tl = load %ts : f32
  %tt = permute %tl {axes = [1, 0]} : f32
  %tr = reshape %tt {shape = [1, 64, 5000]} : f32
  %te = expand %tr {shape = [16, 64, 5000]} : f32
  %zero = const 0.0 : f32
  %same = cmpne %ie, %ne : bool
  %x = where %same, %zero, %te : f32
  %s = reduce_axis %x {op = add, axes = [2]} : f32
  %r = reshape %s {shape = [16, 64]} : f32
  %w = store %os, %r
  sink %w
}
)";

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

class KernelCostTest : public testing::Test {
 protected:
  void Read(std::string text, std::string_view schedule) {
    text.replace(text.find("SCHEDULE"), 8, schedule);
    Diagnostics diagnostics;
    module_ = ParseModule(text, "m.uop", diagnostics);
    ASSERT_NE(module_, nullptr) << diagnostics.ToString();
    const KernelCalls calls(*module_);
    Kernel& kernel = *module_->kernels[0];
    const auto cost = KernelCost(*module_, calls, kernel, target_);
    ASSERT_TRUE(cost.ok()) << cost.status();
    cost_ = *cost;
    KernelFacts facts(*module_, calls, kernel, target_);
    const auto nest = facts.NestOf(kernel.directives);
    ASSERT_TRUE(nest.ok());
    work_ = cost::WorkOf(facts.kernel().body, *nest, facts.accesses_and_staged(), target_,
                         facts.closed());
  }

  passes::Target target_ = *passes::FindTarget("cl-cpu");
  std::unique_ptr<Module> module_;
  cost::Cost cost_;
  cost::ScheduledWork work_;
};

TEST_F(KernelCostTest, ScalarProduct) {
  Read(kProduct, "");
  const cost::Instructions count = cost::CountInstructions(work_, target_);
  // Each addition waits for the one before; a multiply-add is one instruction.
  EXPECT_DOUBLE_EQ(count.arithmetic, 64.0 * 128 * 32 * 8);
  EXPECT_DOUBLE_EQ(count.loads, 2.0 * 64 * 128 * 32);
  EXPECT_DOUBLE_EQ(count.stores, 64.0 * 128 * target_.store_weight);
}

TEST_F(KernelCostTest, OverlappingVectorsCrossPeriods) {
  // The last vector begins at 241, so that lanes are loaded one by one.
  Read(kPeriods, "overlap(i0, 16), vectorize(i0, 16)");
  EXPECT_DOUBLE_EQ(cost::CountInstructions(work_, target_).loads,
                   17 * 16 * target_.lane_instructions);
}

TEST_F(KernelCostTest, PackedProduct) {
  Read(kProduct, "vectorize(i1, 16), upcast(i1.0, 4), upcast(i0, 4), loop(i0.0), pack(p1, i1.0.0)");
  const cost::Instructions count = cost::CountInstructions(work_, target_);
  // i1.0.0: 2 groups; i0.0: 16 steps; r0: 32 terms; 4 rows of 4 vectors of 16 columns. The four
  // rows' factors are read one by one, strided in memory; the columns' from the copy.
  EXPECT_DOUBLE_EQ(count.arithmetic, 2.0 * 16 * 32 * 16);
  // Squares of 16 strided columns by 16 adjacent terms: each vector is loaded and shuffled four
  // times.
  const double fill = 2 * 32 * (64 / 16) * (1 + 4);
  EXPECT_DOUBLE_EQ(count.loads, 2.0 * 16 * 32 * (4 + 4) + fill);
  EXPECT_DOUBLE_EQ(count.stores, target_.store_weight * (2.0 * 32 * 4 + 2 * 16 * 16));
}

TEST_F(KernelCostTest, EachSumReadsItsCopyOfASharedOperand) {
  constexpr char kTiles[] = "vectorize(i1, 16), upcast(i0, 8), loop(i0.0), pack(p0, i1.0)";
  Read(kTwoSums, kTiles);
  const cost::Instructions count = cost::CountInstructions(work_, target_);
  // i1.0: 8 groups; i0.0: 8 steps; 32 terms of each sum; 8 rows of a vector of 16 columns.
  EXPECT_DOUBLE_EQ(count.arithmetic, 2.0 * 8 * 8 * 32 * 8 + 8 * 8 * 8);
  const double fill = 8 * 32 * (1 + 4);
  EXPECT_DOUBLE_EQ(count.loads, 2 * (8.0 * 8 * 32 * (8 + 1) + fill));
}

TEST_F(KernelCostTest, MatrixInstructionsHaveARateOfTheirOwn) {
  target_ = *passes::FindTarget("cl-nvidia-sm90");
  Read(kHalves, "matrix(i0, i1, r0), pack(p0, r0.0, local), pack(p1, r0.0, local)");
  const cost::Instructions count = cost::CountInstructions(work_, target_);
  // Casts and products are part of the instructions.
  EXPECT_DOUBLE_EQ(count.arithmetic,
                   64.0 * 128 * 32 * target_.flops_per_second / target_.matrix_flops_per_second);
}

TEST_F(KernelCostTest, AReduceIsComputedOnceARow) {
  Read(kRows, "vectorize(i1, 16), loop(i1.0), unroll(r0, 16)");
  const cost::Instructions count = cost::CountInstructions(work_, target_);
  const double additions = 64 * 8 * 8;  // eight vectors a row, each waits for the one before
  const double recips = 64 * 6, products = 64 * 8;
  EXPECT_DOUBLE_EQ(count.arithmetic, additions + recips + products);
  EXPECT_DOUBLE_EQ(count.loads, 64.0 * 8 * 2);
}

TEST_F(KernelCostTest, WithoutALoopAReduceIsComputedForEachResult) {
  Read(kRows, "unroll(r0, 16)");
  EXPECT_DOUBLE_EQ(cost::CountInstructions(work_, target_).arithmetic,
                   64.0 * 128 * (8 * 8 + 6 + 1));
}

TEST_F(KernelCostTest, AReduceWithoutALoopLoadsOnce) {
  Read(kGather, "");
  EXPECT_DOUBLE_EQ(cost::CountInstructions(work_, target_).loads, 2.0 * 16 * 64);
  // Each row of the table lies somewhere else.
  size_t loads = 0;
  for (const cost::MemoryAccess& a : work_.accesses) {
    if (a.buffer != 2) continue;
    ++loads;
    EXPECT_EQ(cost::FootprintBytes(work_, a, 0, target_), 16 * 64 * 4);
  }
  EXPECT_EQ(loads, 1);
}

TEST_F(KernelCostTest, ACopyIsMadeBeforeALoopInWhichItIsTheSame) {
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

TEST_F(KernelCostTest, AReduceIsComputedForEachIndexAtWhichItIsRead) {
  Read(kHalvesOfASum, "vectorize(i1, 16), upcast(i0, 8), loop(i0.0), pack(p0, i1.0)");
  const cost::Instructions count = cost::CountInstructions(work_, target_);
  // i1.0: 4 groups; i0.0: 8 steps; 32 terms of each of two sums; 8 rows of a vector of 16 columns.
  EXPECT_DOUBLE_EQ(count.arithmetic, 4.0 * 8 * (2 * 32 * 8 + 8));
  const double fill = 4 * 32 * (1 + 4);
  EXPECT_DOUBLE_EQ(count.loads, 2 * (4.0 * 8 * 32 * (8 + 1) + fill));
}

TEST_F(KernelCostTest, WhatATupleRepeatsIsComputedOnceForItsResults) {
  Read(kTuple, "loop(i1)");
  const cost::Instructions count = cost::CountInstructions(work_, target_);
  const double sums = 16 * 4 * 32 * 8;  // each addition waits for the one before
  EXPECT_DOUBLE_EQ(count.arithmetic, sums + 16 * 4 * (1 + 2 * 8));
  EXPECT_DOUBLE_EQ(count.loads, 16.0 * 4 * (32 + 8));
}

TEST_F(KernelCostTest, TotalAndLimit) {
  cost::Cost cost;
  cost.compute = 4, cost.utilization = 0.5, cost.launch = 1;
  cost.memory = {3, 9};
  cost.levels = {"core cache", "memory"};
  EXPECT_EQ(cost.Total(), 10);
  EXPECT_EQ(cost.Limit(), "memory");
  cost.memory[1] = 7;
  EXPECT_EQ(cost.Total(), 9);
  EXPECT_EQ(cost.Limit(), "compute");
  cost.launch = 20;
  EXPECT_EQ(cost.Limit(), "launch");
}

TEST_F(KernelCostTest, AnIllegalDirectiveIsAnError) {
  Read(kRows, "");
  module_->kernels[0]->directives.push_back({"upcast", {{"r0", 0}, {"", 4}}});
  const KernelCalls calls(*module_);
  const auto cost = KernelCost(*module_, calls, *module_->kernels[0], target_);
  ASSERT_FALSE(cost.ok());
  EXPECT_NE(cost.status().message().find("axis r0 is reduce"), std::string::npos);
}

}  // namespace
}  // namespace tg::schedule
