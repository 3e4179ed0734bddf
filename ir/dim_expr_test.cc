#include "ir/dim_expr.h"

#include <map>

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/interpret/scalar.h"
#include "ir/module.h"

namespace tg {
namespace {

constexpr Op kOps[] = {Op::kAdd,      Op::kSub,  Op::kMul,  Op::kMax,     Op::kMin,
                       Op::kFloorDiv, Op::kCDiv, Op::kCMod, Op::kFloorMod};

DimExpr OfVariables(Op op) {
  return DimExpr({{.op = Op::kVar, .value = 0, .var = "a"},
                  {.op = Op::kVar, .value = 0, .var = "b"},
                  {.op = op, .value = 0, .var = {}}});
}

TEST(DimExprTest, ComputesAsTheInterpreter) {
  for (const Op op : kOps) {
    const DimExpr expr = OfVariables(op);
    for (int64_t a = -7; a <= 7; ++a) {
      for (int64_t b = -4; b <= 4; ++b) {
        const int64_t operands[] = {a, b};
        const auto value =
            expr.Evaluate([&](std::string_view name) { return name == "a" ? a : b; });
        EXPECT_EQ(value, interpret::EvalAlu(op, Scalar::kIndex, operands))
            << Mnemonic(op) << a << " " << b;
      }
    }
  }
  const auto huge = [](std::string_view) { return INT64_MAX; };
  EXPECT_EQ(OfVariables(Op::kAdd).Evaluate(huge), std::nullopt);
  EXPECT_EQ(OfVariables(Op::kMul).Evaluate(huge), std::nullopt);
  EXPECT_EQ(OfVariables(Op::kMin).Evaluate(huge), INT64_MAX);
}

TEST(DimExprTest, BoundsHoldAllValues) {
  for (const Op op : kOps) {
    const DimExpr expr = OfVariables(op);
    for (const DimExpr::Range& a : {DimExpr::Range{-5, 7}, {3, 9}, {-8, -2}}) {
      for (const DimExpr::Range& b : {DimExpr::Range{1, 4}, {-3, -1}, {-2, 2}}) {
        const auto bounds = expr.Bounds([&](std::string_view name) { return name == "a" ? a : b; });
        if (!bounds) continue;
        for (int64_t x = a.first; x <= a.second; ++x) {
          for (int64_t y = b.first; y <= b.second; ++y) {
            const int64_t value =
                *expr.Evaluate([&](std::string_view name) { return name == "a" ? x : y; });
            EXPECT_LE(bounds->first, value) << Mnemonic(op) << x << " " << y;
            EXPECT_GE(bounds->second, value) << Mnemonic(op) << x << " " << y;
          }
        }
      }
    }
  }
}

TEST(DimExprTest, ConvertsFromAndToNodes) {
  Context context, other;
  Builder b(context);
  const UOp* node =
      b.Alu(Op::kFloorDiv, {b.Sub(b.Var("h"), b.Mul(b.Var("w"), b.Index(3))), b.Index(2)});
  const auto expr = DimExpr::FromNode(context, node);
  ASSERT_TRUE(expr);
  EXPECT_TRUE(expr->IsComplete());
  EXPECT_EQ(expr->Text(), "floordiv(sub(@h, mul(@w, 3)), 2)");
  EXPECT_EQ(expr->Node(context), node);
  EXPECT_EQ(DimExpr::FromNode(other, expr->Node(other)), expr);
  EXPECT_FALSE(DimExpr::FromNode(context, b.Alu(Op::kNeg, {node})));
  // Each node is a term for each of its uses.
  const UOp* product = b.Var("h");
  for (int i = 0; i < 60; ++i) product = b.Mul(product, product);
  EXPECT_FALSE(DimExpr::FromNode(context, product));
}

TEST(DimExprTest, BrokenRequirementsNameTheVariables) {
  Module module;
  Context context;
  Builder b(context);
  const UOp* twice = b.Mul(b.Var("h"), b.Index(2));
  const auto expr = [&](const UOp* u) { return *DimExpr::FromNode(context, u); };
  module.requirements.push_back({true, expr(twice), expr(b.Var("w")), "add %x", {}});
  module.requirements.push_back({false, expr(b.Var("w")), expr(b.Var("h")), "", {}});
  std::map<std::string, int64_t, std::less<>> vars;
  const auto broken = [&] {
    return BrokenRequirement(module, [&](std::string_view name) -> std::optional<int64_t> {
      const auto it = vars.find(name);
      return it == vars.end() ? std::nullopt : std::optional(it->second);
    });
  };
  vars["w"] = 3;
  EXPECT_EQ(broken(), "");  // @h has no value
  vars["h"] = 1;
  EXPECT_EQ(broken(),
            "the sizes do not fit: add %x: mul(@h, 2) and @w must be equal; they are 2 and 3 with "
            "@h = 1, @w = 3");
  vars["w"] = 2;
  EXPECT_EQ(broken(),
            "the sizes do not fit: @w must be at most @h; they are 2 and 1 with @w = 2, @h = 1");
}

}  // namespace
}  // namespace tg
