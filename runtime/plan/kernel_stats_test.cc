#include "runtime/plan/kernel_stats.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text/testing.h"

namespace tg::runtime {
namespace {

absl::StatusOr<KernelWork> Count(const std::string& kernel, int64_t n = 0) {
  const std::unique_ptr<Module> module =
      ParseOrFail("tg 1\nmodule @m\nvar @n : [1, 64]\n\n" + kernel);
  if (module == nullptr) return absl::InternalError("does not parse");
  return CountWork(*module->kernels[0], [n](std::string_view) { return n; });
}

// 16 groups of 4 items, 8 iterations each, with a multiply-add of four lanes. The index arithmetic,
// including the multiplication that only feeds it, counts 0.
TEST(KernelWork, LoopOfMultiplyAdds) {
  const auto work = Count(R"(
kernel @k : linear {
  %y = define_global {arg = 0} : ptr<f32, 2048>
  %x = define_global {arg = 1} : ptr<f16, 2048>
  %acc = scratch {id = 0} : ptr<f32, 4, reg>
  %0 = const 0 : i32
  %4 = const 4 : i32
  %8 = const 8 : i32
  %16 = const 16 : i32
  %zero = vconst {values = [0.0, 0.0, 0.0, 0.0]} : f32x4
  %g = special %16 {name = grid0} : i32
  %l = special %4 {name = local0} : i32
  %gl = mul %g, %4 : i32
  %i = add %gl, %l : i32
  %ai = index %acc, %0 : ptr<f32, 4, reg>
  %z = store %ai, %zero
  %r = range %8 {id = 0} : i32
    %acc1 = after %acc, %z, %r : ptr<f32, 4, reg>
    %i8 = mul %i, %8 : i32
    %at = add %i8, %r : i32
    %a = index %x, %at : ptr<f16, 2048>
    %v = load %a : f32x4
    %aj = index %acc1, %0 : ptr<f32, 4, reg>
    %old = load %aj : f32x4
    %new = mulacc %v, %v, %old : f32x4
    %s = store %aj, %new
  %e = end %s, %r
  %acc2 = after %acc, %e : ptr<f32, 4, reg>
  %ak = index %acc2, %0 : ptr<f32, 4, reg>
  %sum = load %ak : f32x4
  %neg = neg %sum : f32x4
  %iy = mul %i, %4 : i32
  %b = index %y, %iy : ptr<f32, 2048>
  %out = store %b, %neg
  sink %out
}
)");
  ASSERT_TRUE(work.ok()) << work.status();
  constexpr double kItems = 16 * 4;
  EXPECT_EQ(work->ops, kItems * (8 * 4 * 2 + 4));
  EXPECT_EQ(work->load_bytes, kItems * 8 * 4 * 2);  // half in memory
  EXPECT_EQ(work->store_bytes, kItems * 4 * 4);
}

// There is no op for ==.
TEST(KernelWork, OppositesOfComparisons) {
  const auto work = Count(R"(
kernel @k : linear {
  %y = define_global {arg = 0} : ptr<f32, 16>
  %16 = const 16 : i32
  %true = const true : bool
  %one = const 1.0 : f32
  %zero = const 0.0 : f32
  %g = special %16 {name = grid0} : i32
  %a = index %y, %g : ptr<f32, 16>
  %x = load %a : f32
  %differs = cmpne %x, %one : bool
  %same = cmpne %differs, %true : bool
  %v = where %same, %one, %zero : f32
  %s = store %a, %v
  sink %s
}
)");
  ASSERT_TRUE(work.ok()) << work.status();
  EXPECT_EQ(work->ops, 2 * 16);
}

TEST(KernelWork, VariableTripCounts) {
  constexpr char kText[] = R"(
kernel @k : linear {
  %y = define_global {arg = 0} : ptr<f32, 64>
  %n = var @n : i32
  %2 = const 2 : i32
  %half = cdiv %n, %2 : i32
  %g = special %half {name = grid0} : i32
  %r = range %n {id = 0} : i32
    %a = index %y, %g : ptr<f32, 64>
    %f = cast %r : f32
    %f2 = mul %f, %f : f32
    %s = store %a, %f2
  %e = end %s, %r
  sink %e
}
)";
  for (const int64_t n : {1, 10, 64}) {
    const auto work = Count(kText, n);
    ASSERT_TRUE(work.ok()) << work.status();
    EXPECT_EQ(work->ops, static_cast<double>(n / 2 * n));
    EXPECT_EQ(work->store_bytes, static_cast<double>(n / 2 * n * 4));
    EXPECT_EQ(work->load_bytes, 0);
  }
}

// The first 4 of 12 groups run a loop of g + 1 steps, 10 in all; the other groups enter nested
// blocks.
TEST(KernelWork, BlocksOfSomeGroups) {
  const auto work = Count(R"(
kernel @k : linear {
  %y = define_global {arg = 0} : ptr<f32, 16>
  %c1 = const 1 : i32
  %c4 = const 4 : i32
  %c10 = const 10 : i32
  %c12 = const 12 : i32
  %true = const true : bool
  %f = const 2.0 : f32
  %g = special %c12 {name = grid0} : i32
  %first = cmplt %g, %c4 : bool
  %rest = cmpne %first, %true : bool
  %early = cmplt %g, %c10 : bool
  %p = index %y, %g : ptr<f32, 16>
  %a = if %first
    %steps = add %g, %c1 : i32
    %r = range %steps {id = 0} : i32
      %rf = cast %r : f32
      %v = mul %rf, %f : f32
      %s = store %p, %v
    %e = end %s, %r
  endif %a
  %b = if %rest
    %gf = cast %g : f32
    %w = mul %gf, %f : f32
    %t = store %p, %w
    %d = if %early
      %u = store %p, %f
    endif %d
  endif %b
  sink %e, %t, %u
}
)");
  ASSERT_TRUE(work.ok()) << work.status();
  EXPECT_DOUBLE_EQ(work->ops, 10 + 8);
  EXPECT_DOUBLE_EQ(work->store_bytes, 4 * (10 + 8 + 6));
}

TEST(KernelWork, TripsThatDifferBetweenGroups) {
  // Group g of 4 runs (n + 3 - g) / 4 steps, in total n.
  constexpr char kText[] = R"(
kernel @k : linear {
  %y = define_global {arg = 0} : ptr<f32, 64>
  %n = var @n : i32
  %3 = const 3 : i32
  %4 = const 4 : i32
  %g = special %4 {name = grid0} : i32
  %up = add %n, %3 : i32
  %left = sub %up, %g : i32
  %mine = cdiv %left, %4 : i32
  %r = range %mine {id = 0} : i32
    %a = index %y, %r : ptr<f32, 64>
    %f = cast %r : f32
    %s = store %a, %f
  %e = end %s, %r
  sink %e
}
)";
  for (const int64_t n : {1, 10, 33, 64}) {
    const auto work = Count(kText, n);
    ASSERT_TRUE(work.ok()) << work.status();
    EXPECT_EQ(work->store_bytes, static_cast<double>(n * 4));
  }
}

// 13 terms in two blocks of 8, of which the second begins at 5 and repeats three terms, as lanes of
// a vector that a mask replaces by 0; the results are 37 in three blocks of 16.
TEST(KernelWork, RepeatedStepsAreNotNeeded) {
  const auto work = Count(R"(
kernel @k : linear {schedule = [overlap(r0, 8), unroll(r0, 8), overlap(i0, 16), vectorize(i0, 16)]} {
  %y = define_global {arg = 0} : ptr<f32, 37>
  %x = define_global {arg = 1} : ptr<f32, 13>
  %acc = scratch {id = 0} : ptr<f32, 8, reg>
  %0 = const 0 : i32
  %2 = const 2 : i32
  %3 = const 3 : i32
  %5 = const 5 : i32
  %8 = const 8 : i32
  %16 = const 16 : i32
  %21 = const 21 : i32
  %zero = vconst {values = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]} : f32x8
  %lanes = vconst {values = [0, 1, 2, 3, 4, 5, 6, 7]} : i32x8
  %g = special %3 {name = grid0} : i32
  %ai = index %acc, %0 : ptr<f32, 8, reg>
  %z = store %ai, %zero
  %r = range %2 {id = 0} : i32
    %acc1 = after %acc, %z, %r : ptr<f32, 8, reg>
    %start = mul %r, %8 : i32
    %from = min %start, %5 : i32
    %p = index %x, %from : ptr<f32, 13>
    %v = load %p : f32x8
    %gone = sub %start, %from : i32
    %all = splat %gone : i32x8
    %again = cmplt %lanes, %all : boolx8
    %term = where %again, %zero, %v : f32x8
    %aj = index %acc1, %0 : ptr<f32, 8, reg>
    %old = load %aj : f32x8
    %new = add %old, %term : f32x8
    %s = store %aj, %new
  %e = end %s, %r
  %acc2 = after %acc, %e : ptr<f32, 8, reg>
  %ak = index %acc2, %0 : ptr<f32, 8, reg>
  %sum = load %ak : f32
  %row = splat %sum : f32x16
  %twice = add %row, %row : f32x16
  %block = mul %g, %16 : i32
  %to = min %block, %21 : i32
  %q = index %y, %to : ptr<f32, 37>
  %out = store %q, %twice
  sink %out
}
)");
  ASSERT_TRUE(work.ok()) << work.status();
  constexpr double kBlocks = 37.0 / 16;
  EXPECT_DOUBLE_EQ(work->ops, kBlocks * 13 + 37);
  EXPECT_DOUBLE_EQ(work->load_bytes, 3 * 16 * 4);
  EXPECT_DOUBLE_EQ(work->store_bytes, 48 * 4);
}

// Of two nests for long and short axes one runs.
TEST(KernelWork, BlocksThatVariablesDecide) {
  constexpr char kText[] = R"(
kernel @k : linear {
  %y = define_global {arg = 0} : ptr<f32, 64>
  %n = var @n : i32
  %0 = const 0 : i32
  %16 = const 16 : i32
  %f = const 2.0 : f32
  %short = cmplt %n, %16 : bool
  %p = index %y, %0 : ptr<f32, 64>
  %a = if %short
    %s = store %p, %f
  endif %a
  sink %s
}
)";
  EXPECT_EQ(Count(kText, 15)->store_bytes, 4);
  EXPECT_EQ(Count(kText, 16)->store_bytes, 0);
}

TEST(KernelWork, LocalMemoryIsNoTraffic) {
  const auto work = Count(R"(
kernel @k : linear {
  %t = scratch {id = 0} : ptr<f32, 8, local>
  %8 = const 8 : i32
  %l = special %8 {name = local0} : i32
  %a = index %t, %l : ptr<f32, 8, local>
  %v = load %a : f32
  %s = store %a, %v
  sink %s
}
)");
  ASSERT_TRUE(work.ok()) << work.status();
  EXPECT_EQ(work->load_bytes + work->store_bytes + work->ops, 0);
}

}  // namespace
}  // namespace tg::runtime
