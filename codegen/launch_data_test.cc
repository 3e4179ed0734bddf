// SizeExpr evaluates any integer expression over variables as the interpreter does.
#include "codegen/launch_data.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/interpret/scalar.h"
#include "ir/value.h"

namespace tg::codegen {
namespace {

// A variable of an integer type, in the form that legalized kernels have.
const UOp* Var(Builder& b, std::string_view name, Scalar s) {
  Context& ctx = b.context();
  return ctx.Make(Op::kVar, s, {}, ctx.MakeAttr(Op::kVar, {int64_t{ctx.Intern(name)}}));
}

int64_t Evaluate(const UOp* u, Context& ctx, int64_t x, int64_t y) {
  const auto e = SizeExpr::From(u, ctx);
  EXPECT_TRUE(e.ok()) << e.status();
  if (!e.ok()) return 0;
  return e->Evaluate([&](std::string_view name) { return name == "x" ? x : y; });
}

TEST(SizeExprTest, EveryIntegerOp) {
  std::mt19937_64 random(1);
  for (const Scalar s : {Scalar::kI32, Scalar::kU32, Scalar::kI64, Scalar::kU64}) {
    Context ctx;
    Builder b(ctx);
    const UOp *x = Var(b, "x", s), *y = Var(b, "y", s);
    for (const Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv,
                        Op::kCMod, Op::kMax, Op::kMin, Op::kAnd, Op::kOr, Op::kXor, Op::kShl,
                        Op::kShr, Op::kCmpLt, Op::kCmpNe}) {
      const UOp* u = b.Alu(op, {x, y});
      for (int run = 0; run < 20; ++run) {
        const int64_t p = WrapInt(s, static_cast<int64_t>(random()));
        const int64_t q = run == 0   ? 0
                          : run == 1 ? WrapInt(s, -1)
                                     : WrapInt(s, static_cast<int64_t>(random() >> (run * 3)));
        EXPECT_EQ(Evaluate(u, ctx, p, q), interpret::EvalAlu(op, s, std::vector{p, q}).value())
            << Mnemonic(op) << ' ' << GetScalarInfo(s).text << ' ' << p << ' ' << q;
      }
    }
  }
}

// The legalized form of a quotient by a variable: conversions, signs by xor, and a select.
TEST(SizeExprTest, ConversionsAndChoices) {
  Context ctx;
  Builder b(ctx);
  const UOp *x = Var(b, "x", Scalar::kI32), *y = Var(b, "y", Scalar::kI32);
  const UOp* negative = b.Lt(b.Alu(Op::kXor, {x, y}), b.ConstInt(kI32, 0));
  const UOp* u = b.Where(negative, b.Cast(b.Cast(x, Scalar::kU32), kI64), b.Cast(y, kI64));
  EXPECT_EQ(Evaluate(u, ctx, -1, 5), 4294967295);
  EXPECT_EQ(Evaluate(u, ctx, -1, -7), -7);
  EXPECT_EQ(Evaluate(b.Cast(negative, kI32), ctx, 1, -1), 1);
  EXPECT_EQ(Evaluate(b.Bitcast(x, Scalar::kU32), ctx, -2, 0), 4294967294);
  EXPECT_EQ(Evaluate(b.Alu(Op::kCDiv, {x, y}), ctx, INT32_MIN, -1), INT32_MIN);
}

// A shared subexpression is computed once: as a tree, this expression has 2^200 nodes.
TEST(SizeExprTest, SharedPartsAreComputedOnce) {
  Context ctx;
  Builder b(ctx);
  const UOp* u = Var(b, "x", Scalar::kI32);
  for (int i = 0; i < 200; ++i) u = b.Alu(Op::kXor, {b.Add(u, u), u});
  int32_t expected = 3;
  for (int i = 0; i < 200; ++i) {
    expected = static_cast<int32_t>(2u * static_cast<uint32_t>(expected)) ^ expected;
  }
  EXPECT_EQ(Evaluate(u, ctx, 3, 0), expected);
  EXPECT_EQ(SizeExpr::From(u, ctx)->Vars(), std::vector<std::string>{"x"});
}

TEST(SizeExprTest, WorkItems) {
  Context ctx;
  Builder b(ctx);
  const UOp* item = b.Special(SpecialName::kGrid0, b.ConstInt(kI32, 8));
  const auto e = SizeExpr::From(item, ctx, item);
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(e->Evaluate([](std::string_view) { return 0; }, 5), 5);
  const auto none = SizeExpr::From(item, ctx);
  EXPECT_EQ(none.status().message(),
            "the size of a grid depends on a special; it can only depend on constants and "
            "variables");
}

}  // namespace
}  // namespace tg::codegen
