// Reduces before and after, evaluated by running their loops over a small memory. A load outside it
// that no gate forbids fails the test.
#include "passes/simplify/closed_reduce.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "ir/builder.h"
#include "ir/interpret/scalar.h"
#include "ir/value.h"
#include "ir/walk.h"
#include "passes/rewrite/testing/random_expr.h"
#include "passes/simplify/simplify.h"

namespace tg::simplify {
namespace {

constexpr int64_t kMemory = 12;

// Recursive, which is all right for what tests make.
class Machine {
 public:
  std::map<const UOp*, int64_t> leaves;  // ranges that enclose, vars

  int64_t Eval(const UOp* u) {
    if (auto it = leaves.find(u); it != leaves.end()) return it->second;
    switch (u->op) {
      case Op::kConst:
        return u->word();
      case Op::kLoad: {
        const UOp* address = u->src(0);
        if (address->num_srcs == 3 && !Eval(address->src(2))) {
          return u->num_srcs > 1 ? Eval(u->src(1)) : 0;
        }
        const int64_t at = Eval(address->src(1));
        EXPECT_TRUE(at >= 0 && at < kMemory) << "load outside, at " << at;
        const int64_t v = (at * 7 + 3) % 11 - 2;
        return u->dtype.is_float() ? BitsFromDouble(u->dtype.scalar(), static_cast<double>(v)) : v;
      }
      case Op::kReduce:
        return Loop(u, 1, interpret::ReduceIdentity(static_cast<Op>(u->word()), u->dtype.scalar()));
      case Op::kCast:
        return CastBits(u->src(0)->dtype.scalar(), u->dtype.scalar(), Eval(u->src(0)));
      case Op::kWhere:
        return Eval(u->src(Eval(u->src(0)) ? 1 : 2));
      default:
        break;
    }
    int64_t args[3];
    for (size_t i = 0; i < u->num_srcs; ++i) args[i] = Eval(u->src(i));
    return *interpret::EvalAlu(u->op, u->src(0)->dtype.scalar(), {args, u->num_srcs});
  }

 private:
  int64_t Loop(const UOp* u, size_t which, int64_t sum) {
    if (which == u->num_srcs) {
      const int64_t args[2] = {sum, Eval(u->src(0))};
      return *interpret::EvalAlu(static_cast<Op>(u->word()), u->dtype.scalar(), args);
    }
    const UOp* r = u->src(which);
    for (int64_t i = 0, n = Eval(r->src(0)); i < n; ++i) {
      leaves[r] = i;
      sum = Loop(u, which + 1, sum);
    }
    leaves.erase(r);
    return sum;
  }
};

struct Fixture {
  Module module;
  Context ctx;
  Builder b{ctx};
  const UOp* ptr = b.DefineGlobal(0, DType::Pointer(Scalar::kF32, kMemory, AddrSpace::kGlobal));
  const UOp* ids = b.DefineGlobal(1, DType::Pointer(Scalar::kI32, kMemory, AddrSpace::kGlobal));
  const UOp* n;
  const UOp* v;
  const UOp* r = b.Range(b.Index(10));
  const UOp* q = b.Range(b.Index(4));

  Fixture() {
    module.vars.push_back({"n", 1, 9, {}});
    module.vars.push_back({"v", -3, 12, {}});
    n = b.Var("n");
    v = b.Var("v");
  }
  const UOp* Reduce(Op op, const UOp* value, std::vector<const UOp*> ranges) {
    ranges.insert(ranges.begin(), value);
    return ctx.Make(Op::kReduce, value->dtype, ranges, ctx.MakeAttr(Op::kReduce, {int64_t(op)}));
  }
  const UOp* Load(const UOp* at) { return b.Load(b.IndexPtr(ptr, at)); }
  const UOp* Eq(const UOp* x, const UOp* y) { return b.Not(b.Alu(Op::kCmpNe, {x, y})); }
  bool HasLoop(const UOp* u) {
    for (const UOp* s : PostOrder(u)) {
      if (s->op == Op::kReduce) return true;
    }
    return false;
  }
  // Simplifies, compares for all values of the vars, and says whether loops are left.
  bool Collapses(const UOp* u) {
    Simplifier simplify(ctx, &module);
    const UOp* to = simplify(u);
    for (int64_t vv = -3; vv <= 12; ++vv) {
      for (int64_t nn = 1; nn <= 9; ++nn) {
        Machine before, after;
        before.leaves = after.leaves = {{v, vv}, {n, nn}};
        const int64_t want = before.Eval(u), got = after.Eval(to);
        if (u->dtype.is_float()) {
          EXPECT_NEAR(DoubleFromBits(u->dtype.scalar(), want),
                      DoubleFromBits(u->dtype.scalar(), got), 1e-4)
              << testing::ToText(ctx, to) << " v " << vv << " n " << nn;
        } else {
          EXPECT_EQ(want, got) << testing::ToText(ctx, to) << " v " << vv << " n " << nn;
        }
        if (::testing::Test::HasFailure()) return false;
      }
    }
    return !HasLoop(to);
  }
};

TEST(Reduce, ValuesThatDoNotDependOnTheRange) {
  Fixture f;
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kAdd, f.v, {f.r})));
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kAdd, f.Load(f.n), {f.r, f.q})));
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kMax, f.Load(f.n), {f.r})));
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kAdd, f.v, {f.b.Range(f.n)})));
  EXPECT_FALSE(f.Collapses(f.Reduce(Op::kAdd, f.Load(f.r), {f.r})));  // near miss
}

TEST(Reduce, CountsThatTheTypeLacksAreNoFactors) {
  Fixture f;
  const auto sum = [&](DType t, int64_t n) {
    return f.HasLoop(Simplifier(
        f.ctx, &f.module)(f.Reduce(Op::kAdd, f.b.Cast(f.Load(f.n), t), {f.b.Range(f.b.Index(n))})));
  };
  EXPECT_FALSE(sum(DType(Scalar::kF16), 65504));
  EXPECT_TRUE(sum(DType(Scalar::kF16), 70000));  // infinity, and 0 times that no 0
  EXPECT_FALSE(sum(DType(Scalar::kF32), 70000));
}

TEST(Reduce, CountsWhatAGateSelects) {
  Fixture f;
  const UOp* x = f.Load(f.n);
  const UOp* zero = f.b.Const(kF32, 0);
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kAdd, f.b.Where(f.b.Lt(f.r, f.v), x, zero), {f.r})));
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kAdd, f.b.Where(f.b.Lt(f.v, f.r), x, zero), {f.r})));
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kAdd, f.b.Where(f.b.Lt(f.r, f.v), zero, x), {f.r})));
  const UOp* both = f.b.And(f.b.Lt(f.v, f.r), f.b.Lt(f.r, f.b.Add(f.v, f.n)));
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kAdd, f.b.Where(both, f.n, f.b.Index(0)), {f.r})));
  // arange: how many q are at most r.
  const UOp* le = f.b.Lt(f.q, f.b.Add(f.v, f.b.Index(1)));
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kAdd, f.b.Cast(le, kI32), {f.q})));
  // Near miss: every other one.
  const UOp* odd = f.b.Lt(f.b.Alu(Op::kFloorMod, {f.r, f.b.Index(2)}), f.v);
  EXPECT_FALSE(f.Collapses(f.Reduce(Op::kAdd, f.b.Where(odd, x, zero), {f.r})));
}

TEST(Reduce, OneHotRowsAreGathers) {
  Fixture f;
  const UOp* zero = f.b.Const(kF32, 0);
  const UOp* row = f.Load(f.r);
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kAdd, f.b.Where(f.Eq(f.r, f.v), row, zero), {f.r})));
  EXPECT_TRUE(
      f.Collapses(f.Reduce(Op::kAdd, f.b.Where(f.Eq(f.b.Add(f.r, f.n), f.v), row, zero), {f.r})));
  // As graphs have it: the index is read from memory.
  const UOp* id = f.b.Load(f.b.IndexPtr(f.ids, f.n));
  const UOp* hit = f.Eq(f.b.Cast(f.r, kI32), id);
  EXPECT_TRUE(f.Collapses(f.Reduce(Op::kAdd, f.b.Where(hit, row, zero), {f.r})));
  // Near miss: a maximum, for which 0 is not neutral.
  EXPECT_FALSE(f.Collapses(f.Reduce(Op::kMax, f.b.Where(hit, row, zero), {f.r})));
}

TEST(Reduce, OneTermIsFoundBehindWhatKeepsZero) {
  Fixture f;
  const UOp* zero = f.b.Const(kF32, 0);
  const UOp* row = f.Load(f.r);
  const UOp* id = f.b.Load(f.b.IndexPtr(f.ids, f.n));
  const UOp* place = f.b.Cast(f.r, kI32);
  const UOp* ne = f.b.Alu(Op::kCmpNe, {place, id});
  const auto collapses = [&](const UOp* value) {
    return f.Collapses(f.Reduce(Op::kAdd, value, {f.r}));
  };
  // The other way round; a second condition of another kind; a sum of another type.
  EXPECT_TRUE(collapses(f.b.Where(ne, zero, row)));
  EXPECT_TRUE(collapses(f.b.Where(f.b.Lt(row, zero), f.b.Where(ne, zero, row), zero)));
  EXPECT_TRUE(collapses(f.b.Cast(f.b.Where(ne, zero, row), DType(Scalar::kF64))));
  // A factor of an integer.
  const UOp* ints = f.b.Cast(row, kI32);
  EXPECT_TRUE(collapses(f.b.Mul(f.b.Cast(f.b.Not(ne), kI32), ints)));
  // Places that are moved: both sides wrap alike.
  const UOp* moved = f.b.Alu(Op::kCmpNe, {f.b.Add(place, f.b.Const(kI32, -3)), id});
  EXPECT_TRUE(collapses(f.b.Where(moved, zero, row)));
  const UOp* back = f.b.Cast(f.b.Sub(f.b.Index(9), f.r), kI32);
  EXPECT_TRUE(collapses(f.b.Where(f.b.Alu(Op::kCmpNe, {back, id}), zero, row)));
  // Near misses: an infinite factor makes more of 0; two terms; a comparison of what varies.
  f.module.flags = {};
  EXPECT_FALSE(collapses(f.b.Mul(f.b.Cast(f.b.Not(ne), kF32), row)));
  const UOp* half = f.b.Cast(f.b.Alu(Op::kFloorDiv, {f.r, f.b.Index(2)}), kI32);
  EXPECT_FALSE(collapses(f.b.Where(f.b.Alu(Op::kCmpNe, {half, id}), zero, row)));
  EXPECT_FALSE(collapses(f.b.Where(f.b.Alu(Op::kCmpNe, {place, ints}), zero, row)));
  // With that flag it is no more than 0.
  f.module.flags = {ModuleFlag::kZeroMul};
  EXPECT_TRUE(collapses(f.b.Mul(f.b.Cast(f.b.Not(ne), kF32), row)));
}

TEST(Reduce, FactorsAndTermsOfIntegersLeave) {
  Fixture f;
  const UOp* id = f.b.Load(f.b.IndexPtr(f.ids, f.r));
  const UOp* other = f.b.Load(f.b.IndexPtr(f.ids, f.n));
  const UOp* product = f.Reduce(Op::kAdd, f.b.Mul(id, other), {f.r});
  EXPECT_FALSE(f.Collapses(product));  // the sum of ids is left
  Simplifier simplify(f.ctx, &f.module);
  EXPECT_EQ(simplify(product)->op, Op::kMul);
  EXPECT_FALSE(f.Collapses(f.Reduce(Op::kAdd, f.b.Add(id, other), {f.r})));
}

}  // namespace
}  // namespace tg::simplify
