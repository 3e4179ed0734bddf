// Float rules by evaluation, on special and random values: the same bits where they claim to be
// exact, the accuracy of pow where pow is replaced, real-number identities where a flag permits
// them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ir/float_format.h"
#include "ir/value.h"
#include "ir/walk.h"
#include "passes/rewrite/build.h"
#include "passes/rewrite/testing/eval.h"
#include "passes/rewrite/testing/random_expr.h"
#include "passes/simplify/rule_cases.h"

namespace tg::simplify {
namespace {

using ::tg::testing::Evaluate;
using ::tg::testing::SameValue;
using ::tg::testing::Values;
using Kind = rewrite::PatternTree::Kind;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kSpecial[] = {
    0.0,   -0.0,  1,      -1,     2,
    -2,    0.5,   3,      -3,     7.25,
    1e-3,  -1e-3, 1e3,    65504,  1e30,
    -1e30, 1e-40, -1e-40, 6e-8,   kInf,
    -kInf, 1e300, 0.1,    1e-310, std::numeric_limits<double>::quiet_NaN()};
// Where rules that need permission are to agree about: no overflow, no cancellation.
constexpr double kBenign[] = {0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3};

struct Names {
  std::vector<const UOp*> vars;
  std::vector<double> constants;
  const UOp* gate[3];
};

const UOp* Build(Context& ctx, const rewrite::PatternTree& t, DType type, const Names& names) {
  const auto number = [&](double v) {
    return rewrite::UniformConst(ctx, type, BitsFromDouble(type.scalar(), v));
  };
  switch (t.kind) {
    case Kind::kVar:
      return names.vars[static_cast<size_t>(t.value)];
    case Kind::kGate:
      return names.gate[t.value];
    case Kind::kConstant:
      return number(names.constants[static_cast<size_t>(t.value)]);
    case Kind::kLiteral:
      if (t.type == rewrite::pattern::Type::kBool)
        return rewrite::UniformConst(ctx, kBool, t.value);
      return number(static_cast<double>(t.value));
    case Kind::kFloatLiteral:
      return number(t.real);
    default:
      break;
  }
  std::vector<const UOp*> srcs;
  for (size_t i = 0; i < t.kids.size(); ++i) {
    const rewrite::PatternTree& kid = t.kids[i];
    const bool bool_place =
        (t.op == Op::kWhere && i == 0) || t.operand == rewrite::pattern::Type::kBool;
    if (bool_place && kid.kind == Kind::kLiteral) {
      srcs.push_back(rewrite::UniformConst(ctx, kBool, kid.value));
    } else {
      srcs.push_back(Build(ctx, kid, type, names));
    }
  }
  const bool is_bool =
      rewrite::pattern::IsCompare(t.op) || t.operand == rewrite::pattern::Type::kBool;
  return ctx.Make(t.op, is_bool ? kBool : type, srcs);
}

// |a - b| in units of b's last place.
double UlpDistance(Scalar s, int64_t a_bits, int64_t b_bits) {
  const double a = DoubleFromBits(s, a_bits), b = DoubleFromBits(s, b_bits);
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kInf;
  const FloatFormat format = FormatOf(s);
  int e = 0;
  std::frexp(b, &e);
  return std::fabs(a - b) /
         std::ldexp(1.0, std::max(e - 1, format.min_exponent()) - format.mantissa_bits);
}

class FloatRule : public ::testing::TestWithParam<RuleCase> {};

TEST_P(FloatRule, KeepsValues) {
  const RuleCase& c = GetParam();
  const Exactness exactness = ExactnessOf(c.info);
  std::mt19937_64 rng(7);
  int applied = 0;
  for (const Scalar s : {Scalar::kF16, Scalar::kBF16, Scalar::kF32, Scalar::kF64}) {
    if (exactness == Exactness::kByPermission && s != Scalar::kF64) continue;
    Context ctx;
    analysis::Bounds bounds(ctx);
    analysis::StructuralOrder order(ctx);
    rewrite::RuleContext rc{
        ctx,
        bounds,
        order,
        {ModuleFlag::kNoNan, ModuleFlag::kZeroMul, ModuleFlag::kInfRatio, ModuleFlag::kFastMath}};
    Names names;
    for (const char* v : {"x", "y", "z", "w"}) {
      names.vars.push_back(ctx.Make(Op::kVar, s, {}, Attr{ctx.Intern(v)}));
    }
    for (int i = 0; i < 3; ++i) {
      names.gate[i] = ctx.Make(Op::kVar, kBool, {}, Attr{ctx.Intern(std::string(1, "pqr"[i]))});
    }
    const auto pick = [&] {
      if (exactness == Exactness::kByPermission) return kBenign[rng() % std::size(kBenign)];
      if (rng() % 3) return kSpecial[rng() % std::size(kSpecial)];
      return std::ldexp(static_cast<double>(static_cast<int64_t>(rng())), -60);
    };
    for (int attempt = 0; attempt < 6000; ++attempt) {
      names.constants = {pick(), pick(), pick()};
      const UOp* before = Build(ctx, c.info.lhs, s, names);
      const UOp* after = c.apply(before, rc);
      if (!after) continue;
      ++applied;
      Values leaves;
      for (const UOp* v : names.vars) leaves[v] = {BitsFromDouble(s, pick())};
      for (const UOp* g : names.gate) leaves[g] = {static_cast<int64_t>(rng() & 1)};
      Values leaves_after = leaves;
      const auto want = Evaluate(before, leaves), got = Evaluate(after, leaves_after);
      ASSERT_TRUE(want && got);
      bool good = SameValue(before->dtype, *want, *got);
      if (exactness == Exactness::kAccuracyOfPow)
        good |= UlpDistance(s, (*got)[0], (*want)[0]) <= 4;
      if (exactness == Exactness::kByPermission && before->dtype.is_float()) {
        good |= std::fabs(DoubleFromBits(s, (*got)[0]) - DoubleFromBits(s, (*want)[0])) < 1e-9;
      }
      ASSERT_TRUE(good) << c.info.name << " in " << DType(s).ToString() << "\n"
                        << ::tg::testing::ToText(ctx, before) << " = "
                        << DoubleFromBits(s, (*want)[0]) << " -> "
                        << ::tg::testing::ToText(ctx, after) << " = "
                        << DoubleFromBits(s, (*got)[0])
                        << " for x = " << DoubleFromBits(s, leaves.at(names.vars[0])[0])
                        << ", y = " << DoubleFromBits(s, leaves.at(names.vars[1])[0]);
    }
  }
  EXPECT_GT(applied, 10) << c.info.name;
}

std::vector<RuleCase> FloatCases() {
  std::vector<RuleCase> cases;
  for (const RuleCase& c : AllRuleCases()) {
    if (c.info.domain & rewrite::pattern::F) cases.push_back(c);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, FloatRule, ::testing::ValuesIn(FloatCases()),
                         [](const auto& info) { return info.param.Id(); });

}  // namespace
}  // namespace tg::simplify
