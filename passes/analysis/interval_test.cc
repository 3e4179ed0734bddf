#include "passes/analysis/interval.h"

#include <gtest/gtest.h>

#include <optional>

#include "ir/interpret/scalar.h"

namespace tg::analysis {
namespace {

constexpr Op kOps[] = {Op::kAdd, Op::kSub, Op::kMul, Op::kFloorDiv, Op::kFloorMod};

// The least interval of all results on operands in `a` and `b`.
Interval Hull(Op op, Scalar s, Interval a, Interval b) {
  std::optional<Interval> all;
  for (int64_t x = a.lo; x <= a.hi; ++x) {
    for (int64_t y = b.lo; y <= b.hi; ++y) {
      const int64_t args[] = {x, y};
      const Interval v = Interval::Point(*interpret::EvalAlu(op, s, args));
      all = all ? Union(*all, v) : v;
    }
  }
  return *all;
}

TEST(IntervalTest, SmallOperandsGiveTheLeastInterval) {
  for (const Scalar s : {Scalar::kI8, Scalar::kI32, Scalar::kI64, Scalar::kIndex}) {
    for (const Op op : kOps) {
      const bool divides = op == Op::kFloorDiv || op == Op::kFloorMod;
      for (int64_t a = -7; a <= 7; ++a) {
        for (int64_t b = a; b <= 7; ++b) {
          for (int64_t c = divides ? 1 : -4; c <= 4; ++c) {
            for (int64_t d = c; d <= (divides ? c : 4); ++d) {
              const Interval args[] = {{a, b}, {c, d}};
              EXPECT_EQ(AluInterval(op, s, args), Hull(op, s, args[0], args[1]))
                  << Mnemonic(op) << " of [" << a << ", " << b << "] and [" << c << ", " << d
                  << "]";
            }
          }
        }
      }
    }
  }
}

TEST(IntervalTest, WhatMayWrapIsTheWholeType) {
  const Interval one = Interval::Point(1);
  for (const Scalar s : {Scalar::kI8, Scalar::kI16, Scalar::kI32, Scalar::kI64}) {
    const Interval full = FullInterval(s);
    const Interval top[] = {{full.hi - 1, full.hi}, one};
    EXPECT_EQ(AluInterval(Op::kAdd, s, top), full);
    const Interval bottom[] = {{full.lo, full.lo + 1}, one};
    EXPECT_EQ(AluInterval(Op::kSub, s, bottom), full);
    const Interval product[] = {{full.lo / 2 - 1, 0}, Interval::Point(2)};
    EXPECT_EQ(AluInterval(Op::kMul, s, product), full);
    const Interval inside[] = {{full.lo / 2, full.hi / 2}, Interval::Point(2)};
    EXPECT_EQ(AluInterval(Op::kMul, s, inside), (Interval{full.lo, full.hi - 1}));
  }
}

TEST(IntervalTest, AnIndexBeyondAllBoundsHasNone) {
  const Interval high[] = {{0, INT64_MAX - 1}, {1, 5}};
  EXPECT_EQ(AluInterval(Op::kAdd, Scalar::kIndex, high), (Interval{1, INT64_MAX}));
  const Interval product[] = {{-3, int64_t{1} << 62}, {2, 4}};
  EXPECT_EQ(AluInterval(Op::kMul, Scalar::kIndex, product), (Interval{-12, INT64_MAX}));
  const Interval open[] = {{0, INT64_MAX}, Interval::Point(4)};
  EXPECT_EQ(AluInterval(Op::kFloorDiv, Scalar::kIndex, open), (Interval{0, INT64_MAX}));
  EXPECT_EQ(AluInterval(Op::kFloorMod, Scalar::kIndex, open), (Interval{0, 3}));
}

TEST(IntervalTest, FullIntervals) {
  EXPECT_EQ(FullInterval(Scalar::kI8), (Interval{-128, 127}));
  EXPECT_EQ(FullInterval(Scalar::kU8), (Interval{0, 255}));
  EXPECT_EQ(FullInterval(Scalar::kU32), (Interval{0, UINT32_MAX}));
  EXPECT_EQ(FullInterval(Scalar::kU64), (Interval{0, INT64_MAX}));
  EXPECT_EQ(FullInterval(Scalar::kI64), (Interval{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(FullInterval(Scalar::kBool), (Interval{0, 1}));
}

}  // namespace
}  // namespace tg::analysis
