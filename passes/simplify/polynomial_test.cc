// Polynomial on random indices over symbolic extents, compared with the values for all leaves.
#include "passes/simplify/polynomial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "ir/builder.h"
#include "passes/rewrite/testing/random_expr.h"
#include "passes/simplify/simplify.h"

namespace tg::simplify {
namespace {

using ::tg::testing::Evaluate;
using ::tg::testing::ToText;
using ::tg::testing::Values;

class RandomIndex {
 public:
  explicit RandomIndex(uint64_t seed) : rng_(seed) {
    module.vars.push_back({"n", 1, 6, {}});
    module.vars.push_back({"m", 2, 5, {}});
    n_ = b.Var("n");
    m_ = b.Var("m");
    up_ = b.Range(n_);
    along_ = b.Special(SpecialName::kGrid0, b.Add(m_, b.Index(1)));
    block_ = b.Range(b.Index(3));
    lane_ = b.Unroll(0, 3);
    half_ = b.Alu(Op::kFloorDiv, {b.Add(n_, b.Index(1)), b.Index(2)});
    step_ = b.Range(half_);
    clamped_ = b.Alu(Op::kMin, {b.Add(b.Mul(block_, b.Index(2)), lane_), b.Sub(n_, b.Index(1))});
  }

  int64_t Int(int64_t lo, int64_t hi) { return std::uniform_int_distribution(lo, hi)(rng_); }

  // A sum of products of leaves.
  const UOp* Sum(int terms, bool may_be_negative) {
    const UOp* sum = b.Index(Int(may_be_negative ? -2 : 0, 4));
    for (int i = 0; i < terms; ++i) {
      const UOp* term = Leaf();
      if (Int(0, 1)) term = b.Mul(term, Int(0, 1) ? Extent() : b.Index(Int(1, 4)));
      if (Int(0, 3) == 0) term = b.Mul(Extent(), term);
      sum = may_be_negative && Int(0, 5) == 0 ? b.Sub(sum, term) : b.Add(sum, term);
    }
    return sum;
  }
  const UOp* Extent() {
    const UOp* vars[] = {n_, n_, m_, m_, half_};
    const UOp* var = vars[Int(0, 4)];
    if (Int(0, 1)) var = b.Add(var, b.Index(Int(1, 3)));
    return Int(0, 2) ? var : b.Mul(var, b.Index(Int(2, 3)));
  }
  const UOp* Leaf() {
    const UOp* leaves[] = {n_, m_, up_, along_, block_, lane_, clamped_, half_, step_};
    return leaves[Int(0, 8)];
  }

  // Calls `visit` with all values of the leaves.
  template <typename Visit>
  void ForAll(Visit visit) const {
    for (int64_t n = 1; n <= 6; ++n) {
      for (int64_t m = 2; m <= 5; ++m) {
        for (int64_t up = 0; up < n; ++up) {
          for (int64_t along = 0; along <= m; ++along) {
            for (int64_t step = 0; step < (n + 1) / 2; ++step) {
              for (int64_t both = 0; both < 9; ++both) {
                visit(Values{{n_, {n}},
                             {m_, {m}},
                             {up_, {up}},
                             {along_, {along}},
                             {step_, {step}},
                             {block_, {both / 3}},
                             {lane_, {both % 3}}});
              }
            }
          }
        }
      }
    }
  }

  Context ctx;
  Module module;
  Builder b{ctx};

 private:
  std::mt19937_64 rng_;
  const UOp *n_, *m_, *up_, *along_, *block_, *lane_, *clamped_, *half_, *step_;
};

int64_t ValueOf(const UOp* u, Values values) { return Evaluate(u, values)->at(0); }

TEST(Polynomial, RandomQuotientsKeepTheirValues) {
  int exact = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomIndex random(seed);
    Simplifier simplify(random.ctx, &random.module);
    const UOp* by = random.Extent();
    // Often the row-major number of an element in rows of `by`.
    const UOp* x = random.Sum(static_cast<int>(random.Int(1, 4)), true);
    if (random.Int(0, 1)) x = random.b.Add(random.b.Mul(random.Leaf(), by), x);
    for (const Op op : {Op::kFloorDiv, Op::kFloorMod}) {
      const UOp* before = random.b.Alu(op, {x, by});
      const UOp* after = simplify(before);
      const auto divides = [](const UOp* u) {
        return (u->op == Op::kFloorDiv || u->op == Op::kFloorMod) && !IsConst(u->src(1));
      };
      const std::vector<const UOp*> nodes = PostOrder(after);
      exact += std::none_of(nodes.begin(), nodes.end(), divides);
      bool same = true;
      random.ForAll([&](const Values& values) {
        same = same && ValueOf(before, values) == ValueOf(after, values);
      });
      ASSERT_TRUE(same) << "seed " << seed << ": " << ToText(random.ctx, before) << "\n -> "
                        << ToText(random.ctx, after);
    }
  }
  // Otherwise the test would show little.
  EXPECT_GT(exact, 30);
}

// A window of three elements, two after the one before: row-major in rows that are longer than the
// axis, whose results are (v + 1) / 2.
TEST(Polynomial, StridedWindowsHaveNoQuotients) {
  Context ctx;
  Module module;
  module.vars.push_back({"v", 1, 960, {}});
  Builder b(ctx);
  Simplifier simplify(ctx, &module);
  const UOp* v = b.Var("v");
  const UOp* results = b.Alu(Op::kFloorDiv, {b.Add(v, b.Index(1)), b.Index(2)});
  const UOp* first = b.Mul(b.Range(results), b.Index(2));
  const UOp* tap = b.Unroll(0, 3);
  const UOp* row = b.Add(b.Mul(v, b.Index(2)), b.Index(5));
  const UOp* flat = b.Add(b.Mul(tap, row), first);
  const UOp* padded = b.Add(v, b.Index(2));
  EXPECT_EQ(simplify(b.Alu(Op::kFloorMod, {flat, padded})), simplify(b.Add(tap, first)));
  EXPECT_EQ(simplify(b.Alu(Op::kFloorDiv, {flat, b.Mul(row, b.Index(3))})), b.Index(0));
  // Results of a second such window, of which there are ((v - 1) / 2 + 1 - 1) / 2 + 1.
  const UOp* halved = b.Add(b.Alu(Op::kFloorDiv, {b.Sub(v, b.Index(1)), b.Index(2)}), b.Index(1));
  const UOp* again =
      b.Add(b.Alu(Op::kFloorDiv, {b.Sub(halved, b.Index(1)), b.Index(2)}), b.Index(1));
  const UOp* second = b.Mul(b.Range(again), b.Index(2));
  EXPECT_EQ(simplify(b.Alu(Op::kFloorDiv, {second, halved})), b.Index(0));
  // In shorter rows the last element of the last window is in the next one.
  const UOp* shorter = b.Add(v, b.Index(1));
  EXPECT_NE(
      simplify(b.Alu(Op::kFloorMod,
                     {b.Add(b.Mul(tap, b.Add(b.Mul(v, b.Index(2)), b.Index(3))), first), shorter})),
      simplify(b.Add(tap, first)));
}

// Under a condition, a quotient may have one value that it has not elsewhere.
TEST(Polynomial, RandomQuotientsUnderConditionsKeepTheirValues) {
  int exact = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomIndex random(seed);
    Builder& b = random.b;
    Simplifier simplify(random.ctx, &random.module);
    const UOp* extent = random.Extent();
    const UOp* at = random.Sum(static_cast<int>(random.Int(1, 3)), random.Int(0, 1) != 0);
    const UOp* more = b.Add(at, b.Index(random.Int(-2, 4)));
    const UOp* by = b.Add(extent, b.Index(random.Int(0, 4)));
    const UOp* is_inside = b.Lt(at, extent);
    if (random.Int(0, 2) == 0) is_inside = b.And(b.Lt(b.Index(random.Int(-2, 1)), at), is_inside);
    for (const Op op : {Op::kFloorDiv, Op::kFloorMod}) {
      const UOp* before = b.Where(is_inside, b.Alu(op, {more, by}), b.Index(-7));
      const UOp* after = simplify(before);
      const std::vector<const UOp*> nodes = PostOrder(after);
      exact += std::none_of(nodes.begin(), nodes.end(), [](const UOp* u) {
        return (u->op == Op::kFloorDiv || u->op == Op::kFloorMod) && !IsConst(u->src(1));
      });
      bool same = true;
      int64_t number = 0;
      random.ForAll([&](const Values& values) {
        if (number++ % 7 != 0) return;  // all would take long
        same = same && ValueOf(before, values) == ValueOf(after, values);
      });
      ASSERT_TRUE(same) << "seed " << seed << ": " << ToText(random.ctx, before) << "\n -> "
                        << ToText(random.ctx, after);
    }
  }
  EXPECT_GT(exact, 20);
}

// An axis that is padded to whole vectors, of an extent that may be 0, and a window's taps along
// it.
TEST(Polynomial, PaddedAxesAreWithinTheirExtentsUnderTheirGuards) {
  Context ctx;
  Module module;
  module.vars.push_back({"v", 0, 960, {}});
  Builder b(ctx);
  Simplifier simplify(ctx, &module);
  const UOp* n = b.Alu(Op::kFloorDiv, {b.Var("v"), b.Index(4)});
  const UOp* blocks = b.Alu(Op::kFloorDiv, {b.Add(b.Var("v"), b.Index(28)), b.Index(32)});
  const UOp* at = b.Add(b.Mul(b.Range(blocks), b.Index(8)), b.Unroll(0, 8));
  const auto under = [&](const UOp* value) {
    return simplify(b.Where(b.Lt(at, n), value, b.Index(-1)));
  };
  const UOp* inside = b.Add(at, b.Range(b.Index(5)));
  const UOp* beyond = b.Add(at, b.Range(b.Index(6)));
  const UOp* row = b.Add(n, b.Index(4));
  EXPECT_EQ(under(b.Alu(Op::kFloorMod, {inside, row})), under(inside));
  EXPECT_EQ(under(b.Alu(Op::kFloorDiv, {inside, row})), under(b.Index(0)));
  EXPECT_NE(under(b.Alu(Op::kFloorMod, {beyond, row})), under(beyond));
  EXPECT_NE(under(b.Alu(Op::kFloorDiv, {beyond, row})), under(b.Index(0)));
}

// Frames of 512 samples, one every 160: the last sample of the last frame is within the signal.
TEST(Polynomial, StridedFramesAreWithinTheSignalUnderTheirGuards) {
  Module module;
  module.vars.push_back({"v", 512, 8000, {}});
  Context ctx;
  Builder b(ctx);
  Simplifier simplify(ctx, &module);
  const UOp* n = b.Var("v");
  const UOp* frames =
      b.Sub(b.Alu(Op::kFloorDiv, {b.Add(n, b.Index(128)), b.Index(160)}), b.Index(3));
  const UOp* blocks = b.Alu(Op::kFloorDiv, {b.Add(n, b.Index(1728)), b.Index(2240)});
  const UOp* frame = b.Add(b.Mul(b.Range(blocks), b.Index(14)), b.Unroll(0, 14));
  const auto under = [&](const UOp* value) {
    return simplify(b.Where(b.Lt(frame, frames), value, b.Index(-1)));
  };
  const auto sample = [&](int64_t of) {
    return b.Add(b.Mul(frame, b.Index(160)), b.Range(b.Index(of)));
  };
  const UOp *inside = sample(512), *beyond = sample(513);
  EXPECT_EQ(under(b.Alu(Op::kFloorMod, {inside, n})), under(inside));
  EXPECT_NE(under(b.Alu(Op::kFloorMod, {beyond, n})), under(beyond));
}

TEST(Polynomial, WhatIsProvenIsTrue) {
  int proven = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomIndex random(seed);
    analysis::Bounds bounds(random.ctx, &random.module);
    const UOp* x = random.Sum(static_cast<int>(random.Int(1, 3)), true);
    if (random.Int(0, 1)) x = random.b.Sub(random.Extent(), x);
    const auto p = Polynomial::Of(x);
    ASSERT_TRUE(p);
    int64_t least = INT64_MAX;
    random.ForAll([&](const Values& values) { least = std::min(least, ValueOf(x, values)); });
    if (!p->IsNonNegative(bounds)) continue;
    ++proven;
    ASSERT_GE(least, 0) << "seed " << seed << ": " << ToText(random.ctx, x);
  }
  EXPECT_GT(proven, 40);
}

}  // namespace
}  // namespace tg::simplify
