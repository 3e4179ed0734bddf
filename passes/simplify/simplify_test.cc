// Simplifier on expressions as passes build them. (test/*.uop shows what users see.)
#include "passes/simplify/simplify.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/builder.h"
#include "ir/walk.h"
#include "passes/rewrite/testing/random_expr.h"

namespace tg::simplify {
namespace {

using ::tg::testing::ToText;

struct Fixture {
  Context ctx;
  Builder b{ctx};
  Simplifier simplify{ctx};
  const UOp* r = b.Range(b.Index(10));                         // 0..9
  const UOp* q = b.Range(b.Index(16));                         // 0..15
  const UOp* t = b.Range(b.Index(7));                          // 0..6
  const UOp* g = b.Special(SpecialName::kGrid0, b.Index(32));  // 0..31

  const UOp* Mul(const UOp* x, int64_t c) { return b.Mul(x, b.Index(c)); }
  const UOp* Div(const UOp* x, int64_t c) { return b.Alu(Op::kFloorDiv, {x, b.Index(c)}); }
  const UOp* Mod(const UOp* x, int64_t c) { return b.Alu(Op::kFloorMod, {x, b.Index(c)}); }
  const UOp* Lt(const UOp* x, int64_t c) { return b.Lt(x, b.Index(c)); }
  // `to` in the order that terms are put in.
  void Expect(const UOp* from, const UOp* expected) {
    const UOp* v = simplify(from);
    const UOp* to = simplify(expected);
    EXPECT_EQ(v, to) << ToText(ctx, from) << "\n is " << ToText(ctx, v) << "\n not "
                     << ToText(ctx, to);
  }
};

TEST(Simplifier, UnflattensWhatWasFlattened) {
  Fixture f;
  const UOp* flat = f.b.Add(f.Mul(f.r, 112), f.b.Add(f.Mul(f.q, 7), f.t));
  f.Expect(f.Div(flat, 112), f.r);
  f.Expect(f.Mod(f.Div(flat, 7), 16), f.q);
  f.Expect(f.Mod(flat, 7), f.t);
  f.Expect(f.Div(flat, 7), f.b.Add(f.Mul(f.r, 16), f.q));
}

TEST(Simplifier, FlattensWhatWasUnflattened) {
  Fixture f;
  const UOp* high = f.Mul(f.Div(f.Div(f.g, 4), 4), 16);
  const UOp* middle = f.Mul(f.Mod(f.Div(f.g, 4), 4), 4);
  f.Expect(f.b.Add(f.b.Add(high, middle), f.Mod(f.g, 4)), f.g);
  f.Expect(f.b.Add(middle, f.Mod(f.g, 4)), f.Mod(f.g, 16));
  // Near miss: the middle digit has another base.
  const UOp* other = f.Mul(f.Mod(f.Div(f.g, 4), 4), 5);
  EXPECT_EQ(f.simplify(f.b.Add(other, f.Mod(f.g, 4)))->op, Op::kAdd);
}

TEST(Simplifier, QuotientsOfSums) {
  Fixture f;
  f.Expect(f.Mod(f.Mul(f.g, 5), 4), f.Mod(f.g, 4));
  f.Expect(f.Div(f.b.Add(f.Mul(f.g, 6), f.b.Index(4)), 4),
           f.b.Add(f.b.Add(f.g, f.Div(f.g, 2)), f.b.Index(1)));
  f.Expect(f.Div(f.b.Add(f.b.Add(f.g, f.r), f.b.Index(100)), 50), f.b.Index(2));
  f.Expect(f.Mod(f.b.Add(f.Mod(f.g, 8), f.Mul(f.r, 8)), 8), f.Mod(f.g, 8));
  // A reversed axis stays what it is: no negative numerator.
  const UOp* flipped = f.b.Add(f.Mul(f.g, -1), f.b.Index(31));
  f.Expect(f.Div(flipped, 8), f.Div(flipped, 8));
}

TEST(Simplifier, ComparisonsOfSums) {
  Fixture f;
  const UOp* flat = f.b.Add(f.Mul(f.r, 16), f.q);
  f.Expect(f.Lt(flat, 32), f.Lt(f.r, 2));
  f.Expect(f.Lt(flat, 40), f.Lt(flat, 40));  // near miss: 40 is not a multiple of 16
  f.Expect(f.Lt(flat, 160), f.b.Bool(true));
  f.Expect(f.b.Lt(f.b.Add(f.Mul(f.r, 4), f.g), f.b.Add(f.g, f.b.Index(8))), f.Lt(f.r, 2));
}

TEST(Simplifier, RangesThatEndAtAVariable) {
  Module module;
  module.vars.push_back({"n", 1, 128, {}});
  Context ctx;
  Builder b(ctx);
  Simplifier simplify(ctx, &module);
  const UOp* n = b.Var("n");
  const UOp* i = b.Range(n);
  const UOp* j = b.Range(n);
  EXPECT_EQ(simplify(b.Alu(Op::kFloorMod, {i, n})), i);
  const UOp* flat = b.Add(b.Mul(i, n), j);
  EXPECT_EQ(simplify(b.Alu(Op::kFloorDiv, {flat, n})), i);
  EXPECT_EQ(simplify(b.Alu(Op::kFloorMod, {flat, n})), j);
  EXPECT_EQ(simplify(b.Lt(i, n)), b.Bool(true));
  EXPECT_EQ(simplify.Range(flat).hi, 127 * 128 + 127);
}

// A window over an axis of n + 2 elements: the axis is repeated and read in rows of n + 3, so that
// row k begins at element k.
TEST(Simplifier, WindowsOfAVariableSize) {
  Module module;
  module.vars.push_back({"n", 1, 128, {}});
  Context ctx;
  Builder b(ctx);
  Simplifier simplify(ctx, &module);
  const UOp* n = b.Var("n");
  const UOp* i = b.Range(n);
  const UOp* tap = b.Unroll(0, 3);
  const auto plus = [&](const UOp* x, int64_t c) { return b.Add(x, b.Index(c)); };
  const UOp* element = b.Add(i, tap);
  const UOp* flat = b.Add(i, b.Mul(tap, plus(n, 3)));
  EXPECT_EQ(simplify(b.Alu(Op::kFloorMod, {flat, plus(n, 2)})), simplify(element));
  EXPECT_EQ(simplify(b.Alu(Op::kFloorDiv, {flat, plus(n, 2)})), tap);
  EXPECT_EQ(simplify(b.Alu(Op::kFloorDiv, {flat, b.Mul(plus(n, 3), b.Index(3))})), b.Index(0));
  // What is clamped to an extent is below it.
  const UOp* clamped = b.Alu(Op::kMin, {b.Mul(b.Range(b.Index(200)), b.Index(3)), plus(n, -1)});
  EXPECT_EQ(simplify(b.Alu(Op::kFloorDiv, {b.Add(clamped, b.Mul(tap, n)), n})), tap);
  // Near misses: one element more than an extent, and rows that are too short.
  EXPECT_NE(simplify(b.Alu(Op::kFloorMod, {element, plus(n, 1)})), simplify(element));
  EXPECT_EQ(simplify(b.Alu(Op::kFloorMod, {element, n}))->op, Op::kFloorMod);
}

TEST(Simplifier, RemaindersOfSums) {
  Fixture f;
  const UOp* s = f.b.Range(f.b.Index(10));
  const auto differ = [&](const UOp* x, const UOp* y) { return f.b.Alu(Op::kCmpNe, {x, y}); };
  const auto is_not = [&](const UOp* x, int64_t c) { return differ(x, f.b.Index(c)); };
  const auto same = [&](const UOp* x, const UOp* y) {
    return differ(differ(x, y), f.b.Bool(true));
  };
  // r and s are at most 9: they differ by a multiple of 11 only where they do not differ.
  f.Expect(f.Lt(f.Mod(f.b.Add(f.r, f.Mul(s, 10)), 11), 1), same(f.r, s));
  f.Expect(is_not(f.Mod(f.b.Add(f.r, f.Mul(s, 10)), 10), 0), is_not(f.r, 0));
  f.Expect(is_not(f.Mod(f.b.Add(f.r, f.Mul(s, 10)), 11), 1), differ(f.r, f.b.Add(s, f.b.Index(1))));
  f.Expect(f.Lt(f.Mod(f.b.Add(f.r, f.Mul(s, 21)), 22), 21), differ(f.b.Add(f.r, f.b.Index(1)), s));
  // Near misses: by 9 they can differ; two remainders.
  for (const UOp* u : {f.Lt(f.Mod(f.b.Add(f.r, f.Mul(s, 8)), 9), 1),
                       f.Lt(f.Mod(f.b.Add(f.r, f.Mul(s, 10)), 11), 2)}) {
    EXPECT_EQ(f.simplify(u)->src(0)->op, Op::kFloorMod) << ToText(f.ctx, f.simplify(u));
  }
  // A divisor that is no number.
  const UOp* n = f.b.Add(f.t, f.b.Index(3));
  const UOp* rest = f.b.Alu(Op::kFloorMod, {f.g, n});
  EXPECT_EQ(f.simplify(f.b.Lt(rest, n)), f.b.Bool(true));
}

TEST(Simplifier, ZeroAddedToFloats) {
  Fixture f;
  const UOp* x = f.b.Cast(f.r, kF32);
  const auto load = [&](int64_t i) {
    const UOp* p = f.b.DefineGlobal(0, DType::Pointer(Scalar::kF32, 8, AddrSpace::kGlobal));
    return f.b.Load(f.b.IndexPtr(p, f.b.Index(i)));
  };
  const UOp *y = load(0), *z = load(1), *zero = f.b.Const(kF32, 0);
  f.Expect(f.b.Add(x, zero), x);
  f.Expect(f.b.Add(f.b.Mul(y, y), zero), f.b.Mul(y, y));
  f.Expect(f.b.Add(f.b.Add(y, zero), zero), f.b.Add(y, zero));
  f.Expect(f.b.Add(f.b.Add(y, zero), x), f.b.Add(y, x));
  f.Expect(f.b.Add(f.b.Add(y, zero), f.b.Add(z, zero)), f.b.Add(y, f.b.Add(z, zero)));
  // Near misses: all of the others may be -0.0, and the sum is 0.0 then.
  for (const UOp* u : {f.b.Add(y, zero), f.b.Add(f.b.Add(y, zero), z), f.b.Add(f.b.Mul(x, y), zero),
                       f.b.Add(f.b.Where(f.Lt(f.r, 3), y, x), zero)}) {
    const std::vector<const UOp*> nodes = PostOrder(f.simplify(u));
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), zero), 1) << ToText(f.ctx, f.simplify(u));
  }
}

TEST(Simplifier, NumbersAddedToIndicesAsFloats) {
  Fixture f;
  const auto plus = [&](const UOp* x, DType t, double c) {
    return f.b.Add(f.b.Cast(x, t), f.b.Const(t, c));
  };
  f.Expect(plus(f.b.Add(f.r, f.b.Index(1)), kF32, -1), f.b.Cast(f.r, kF32));
  // Near misses: a half; numbers that the float does not have.
  for (const UOp* u : {plus(f.r, kF32, 0.5), plus(f.r, kF16, 2048),
                       plus(f.b.Add(f.r, f.b.Index(2048)), kF16, -2048)}) {
    EXPECT_EQ(f.simplify(u), u) << ToText(f.ctx, f.simplify(u));
  }
}

TEST(Simplifier, GatesBoundWhatStandsUnderThem) {
  Fixture f;
  // Under 3 < r the maximum is r, and under r < 4 the quotient is 0.
  const UOp* m = f.b.Alu(Op::kMax, {f.r, f.b.Index(4)});
  f.Expect(f.b.Where(f.b.Lt(f.b.Index(3), f.r), m, f.g),
           f.b.Where(f.b.Lt(f.b.Index(3), f.r), f.r, f.g));
  const UOp* ptr = f.b.DefineGlobal(0, DType::Pointer(Scalar::kF32, 64, AddrSpace::kGlobal));
  const UOp* address = f.b.IndexPtr(ptr, f.b.Add(f.g, f.Div(f.r, 4)), f.Lt(f.r, 4));
  f.Expect(address, f.b.IndexPtr(ptr, f.g, f.Lt(f.r, 4)));
  // Clauses simplify each other; two that contradict leave nothing to load.
  f.Expect(f.b.And(f.Lt(f.r, 4), f.Lt(f.r, 6)), f.Lt(f.r, 4));
  const UOp* never = f.b.And(f.Lt(f.r, 4), f.b.Lt(f.b.Index(5), f.r));
  f.Expect(f.b.Load(f.b.IndexPtr(ptr, f.g, never)), f.b.Const(kF32, 0));
}

TEST(Simplifier, Memory) {
  Fixture f;
  const UOp* ptr = f.b.DefineGlobal(0, DType::Pointer(Scalar::kF32, 64, AddrSpace::kGlobal));
  const UOp* address = f.b.IndexPtr(ptr, f.g);
  const UOp* old = f.b.Load(address);
  const UOp* one = f.b.Const(kF32, 1);
  const UOp* gate = f.Lt(f.g, 20);
  f.Expect(f.b.Store(address, f.b.Where(gate, one, old)),
           f.b.Store(f.b.IndexPtr(ptr, f.g, gate), one));
  const UOp* gated = f.b.IndexPtr(ptr, f.g, gate);
  f.Expect(f.b.Where(gate, f.b.Load(gated), one), f.b.Load(gated, one));
  f.Expect(f.b.IndexPtr(ptr, f.g, f.b.Bool(true)), address);
  // A store of what is there, and the loop around it, vanish; but not the write of an argument.
  const auto store_old = [&](const UOp* to) {
    const UOp* at = f.b.IndexPtr(to, f.r);
    return f.b.End(f.b.Store(at, f.b.Load(at)), {&f.r, 1});
  };
  const UOp* scratch = f.b.Scratch(DType::Pointer(Scalar::kF32, 64, AddrSpace::kPrivate));
  const UOp* other = f.b.Store(address, one);
  const UOp* roots[] = {store_old(scratch), other};
  f.Expect(f.b.Sink(roots), f.b.Sink({&other, 1}));
  f.Expect(store_old(ptr), store_old(ptr));
}

TEST(Simplifier, TakesAMillionNodes) {
  Body body;
  Builder b(*body.context);
  const UOp* x = b.Load(b.IndexPtr(
      b.DefineGlobal(0, DType::Pointer(Scalar::kF32, 64, AddrSpace::kGlobal)), b.Index(3)));
  const UOp* u = x;
  for (int i = 0; body.context->num_nodes() < 1000000; ++i) {
    u = b.Alu(Op::kMax, {b.Add(b.Mul(u, b.Const(kF32, i)), x), b.Alu(Op::kExp2, {u})});
  }
  body.root = b.Sink({&u, 1});
  Module module;
  EXPECT_TRUE(Simplify(body, Stage::kLowered, module).ok());
}

TEST(Simplifier, DiffersFromABoundOnOneSide) {
  Fixture f;
  const auto differs = [&](const UOp* x, int64_t c) {
    return f.b.Alu(Op::kCmpNe, {x, f.b.Index(c)});
  };
  EXPECT_EQ(f.simplify(differs(f.g, 0)), f.b.Lt(f.b.Index(0), f.g));
  EXPECT_EQ(f.simplify(differs(f.g, 31)), f.Lt(f.g, 31));
  EXPECT_EQ(f.simplify(differs(f.g, 5)), differs(f.g, 5));
  const UOp* sum = f.b.Add(f.Mul(f.g, 16), f.q);
  EXPECT_EQ(f.simplify(differs(sum, 0)), f.simplify(f.b.Lt(f.b.Index(0), f.b.Add(f.g, f.q))));
  EXPECT_EQ(f.simplify(differs(sum, 7))->op, Op::kCmpNe);
}

TEST(Simplifier, LanesOfConstantsAreOneConstant) {
  Fixture f;
  const int64_t lanes[] = {0, 1, 2, 3}, moved[] = {5, 6, 7, 8}, limits[] = {3, 2, 1, 0};
  const UOp* g4 = f.b.Splat(f.g, 4);
  const auto all = [&](int64_t v) { return f.b.Splat(f.b.Index(v), 4); };
  const UOp* sum = f.b.Add(f.b.Add(f.b.VConst(kIndex.WithLanes(4), lanes), g4), all(5));
  EXPECT_EQ(f.simplify(sum), f.b.Add(g4, f.b.VConst(kIndex.WithLanes(4), moved)));
  EXPECT_EQ(f.simplify(f.b.Lt(all(8), sum)), f.b.Lt(f.b.VConst(kIndex.WithLanes(4), limits), g4));
}

// So that a gate's part of the outer loop is computed there, and gates that differ in it share the
// rest.
TEST(Simplifier, ClausesOfALoopAreOneCondition) {
  Fixture f;
  const UOp* outside = f.b.Lt(f.b.Index(2), f.g);
  const UOp* sum = f.b.Add(f.r, f.q);
  const UOp *inner1 = f.Lt(sum, 20), *inner2 = f.b.Lt(f.b.Index(3), sum), *outer = f.Lt(f.r, 9);
  const UOp* gate = f.simplify(f.b.And(f.b.And(inner1, outside), f.b.And(inner2, outer)));
  ASSERT_EQ(gate->op, Op::kAnd);
  EXPECT_EQ(gate->src(0), f.b.And(outside, outer));
  EXPECT_EQ(gate->src(1), f.simplify(f.b.And(inner1, inner2)));
  EXPECT_EQ(f.simplify(gate), gate);
}

// (16*a + b) - 17, truncated, is its floor only where neither a nor b is 0.
TEST(Simplifier, DividesUnderSeveralBounds) {
  Fixture f;
  const UOp* sum = f.b.Add(f.b.Add(f.Mul(f.r, 16), f.q), f.b.Index(-17));
  const UOp* quotient = f.b.Alu(Op::kCDiv, {sum, f.b.Index(16)});
  const UOp *a = f.b.Lt(f.b.Index(0), f.r), *b = f.b.Lt(f.b.Index(0), f.q);
  EXPECT_EQ(f.simplify.Under(f.b.And(a, b), quotient), f.b.Add(f.r, f.b.Index(-1)));
  EXPECT_EQ(f.simplify.Under(a, quotient)->op, Op::kCDiv);
  EXPECT_EQ(f.simplify.Under(b, quotient)->op, Op::kCDiv);
}

// One of two terms is not at its end, and it does not matter which.
TEST(Simplifier, DividesUnderABoundOnASum) {
  Fixture f;
  const UOp* sum = f.b.Add(f.Mul(f.r, 16), f.q);  // 0..159
  const UOp* next = f.b.Add(sum, f.b.Index(1));
  EXPECT_EQ(f.simplify.Under(f.Lt(sum, 159), f.Mod(next, 160)), f.simplify(next));
  EXPECT_EQ(f.simplify.Under(f.Lt(sum, 160), f.Mod(next, 160))->op, Op::kFloorMod);
  const UOp* last = f.b.Add(sum, f.b.Index(-1));
  const UOp* half = f.b.Alu(Op::kCDiv, {last, f.b.Index(2)});
  EXPECT_EQ(f.simplify.Under(f.b.Lt(f.b.Index(0), sum), half), f.simplify(f.Div(last, 2)));
  EXPECT_EQ(f.simplify.Under(f.Lt(sum, 159), half)->op, Op::kCDiv);
}

TEST(Simplifier, SignsOfExtrema) {
  Fixture f;
  const auto limit = [&](Op op, const UOp* x, int64_t c) { return f.b.Alu(op, {x, f.b.Index(c)}); };
  const UOp* sum = f.b.Add(f.Mul(f.g, 3), f.r);
  EXPECT_EQ(f.simplify(f.Mul(limit(Op::kMax, f.Mul(sum, -1), -20), -1)),
            f.simplify(limit(Op::kMin, sum, 20)));
  EXPECT_EQ(f.simplify(f.Mul(limit(Op::kMin, f.Mul(sum, -1), -20), -2)),
            f.simplify(f.Mul(limit(Op::kMax, sum, 20), 2)));
  // With one positive term nothing would be won.
  const UOp* mixed = f.b.Add(f.Mul(f.g, -3), f.r);
  EXPECT_EQ(f.simplify(f.Mul(limit(Op::kMax, mixed, -20), -1))->op, Op::kMul);
}

TEST(Simplifier, ReducesLanesOfConstants) {
  Fixture f;
  const int64_t lanes[] = {3, 1, -4, 1, 5, 9}, sums[] = {0, 15};
  const auto reduce = [&](Op op, DType to, const UOp* x) {
    return f.ctx.Make(Op::kReduce, to, {x},
                      f.ctx.MakeAttr(Op::kReduce, {static_cast<int64_t>(op)}));
  };
  const UOp* x = f.b.VConst(kI32.WithLanes(6), lanes);
  EXPECT_EQ(f.simplify(reduce(Op::kAdd, kI32.WithLanes(2), x)),
            f.b.VConst(kI32.WithLanes(2), sums));
  EXPECT_EQ(f.simplify(reduce(Op::kMax, kI32, x)), f.b.ConstInt(kI32, 9));
}

TEST(Simplify, NodesThatAreSaidToBeSimpleAreNotLookedAt) {
  for (const bool said : {false, true}) {
    Module module;
    Body body;
    Builder b(*body.context);
    const DType ptr = DType::Pointer(Scalar::kI32, 4, AddrSpace::kGlobal);
    const UOp* x = b.Load(b.IndexPtr(b.DefineGlobal(1, ptr), b.Index(0)));
    const UOp* same = b.Alu(Op::kXor, {x, b.ConstInt(kI32, 0)});
    if (said) body.num_simple = body.context->num_nodes();
    const UOp* sum = b.Add(same, b.Add(b.ConstInt(kI32, 1), b.ConstInt(kI32, 2)));
    const UOp* store = b.Store(b.IndexPtr(b.DefineGlobal(0, ptr), b.Index(0)), sum);
    body.root = b.Sink(UOpSpan(&store, 1));
    ASSERT_TRUE(Simplify(body, Stage::kLowered, module).ok());
    EXPECT_EQ(body.root->src(0)->src(1), b.Add(said ? same : x, b.ConstInt(kI32, 3)));
    // Numbers are those of a context.
    Compact(body);
    EXPECT_EQ(body.num_simple, 0u);
    EXPECT_EQ(body.root->src(0)->src(1)->src(0)->op, said ? Op::kXor : Op::kLoad);
  }
}

}  // namespace
}  // namespace tg::simplify
