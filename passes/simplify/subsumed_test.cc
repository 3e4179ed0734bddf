// Lists rules that this folder does not need, because bounds, constant folding or a more general
// rule have the same effect. Wherever such a rule would apply, all rules must give the same result
// with it and without it.
#include <gtest/gtest.h>

#include <random>

#include "ir/value.h"
#include "passes/rewrite/build.h"
#include "passes/rewrite/engine.h"
#include "passes/rewrite/testing/random_expr.h"
#include "passes/simplify/rule_lists.h"
#include "passes/simplify/simplify.h"

namespace tg::simplify {
namespace {

using ::tg::testing::ToText;
using Kind = rewrite::PatternTree::Kind;

using namespace rewrite::pattern;  // NOLINT: rules are to read like algebra

// clang-format off
constexpr auto kSubsumed = rules(
    // ---- By bounds: the result is one number
    rule(Z | W, x * 0,                          0),
    rule(Z | W, Max(Min(x, c0), c1),            c1,                     c0 <= c1),
    rule(Z | W, Min(Max(x, c0), c1),            c1,                     c0 >= c1),
    rule(Z | W, x % 1,                          0),
    rule(Z | S, x % -1,                         0),
    rule(Z | W, x / 0,                          0),
    rule(Z | W, 0 / x,                          0),
    rule(Z | W, 0 % x,                          0),
    rule(Z | W, x / y,                          0,                      x >= 0 && x < y),
    rule(Z,     x / y,                          -1,                     x < 0 && x >= y * -1),
    rule(Z | W, x / c0,                         1,                      x >= c0 && x < c0 * 2 && c0 > 0),
    rule(Z | W, CMod(x, 1),                     0),
    rule(Z | S, CMod(x, -1),                    0),
    rule(Z | W, CDiv(x, 0),                     0),
    rule(Z | W, CDiv(0, x),                     0),
    rule(Z | W, CMod(0, x),                     0),
    rule(Z | W, x < y,                          1,                      x < y),
    rule(Z | W, x < y,                          0,                      x >= y),
    rule(Z | W, x != y,                         1,                      x != y),
    rule(Z | W, x != y,                         0,                      x == y),
    rule(B,     x & 0,                          0),
    rule(B,     x | 1,                          1),
    rule(W,     x & 0,                          0),
    rule(W,     0 >> x,                         0),

    // ---- By a rule with any value where these have a constant, or in the other order
    rule(Z | W, (x / c0) * c1 + x % c0,         x,                      c1 == c0),
    rule(W,     (x & c0) & x,                   x & c0),
    rule(F,     -x + y,                         y - x));
// clang-format on

struct Case {
  rewrite::RuleInfo info;
  rewrite::RuleFn apply;
};

template <size_t kRule>
const UOp* Apply(const UOp* u, rewrite::RuleContext& rc) {
  return ApplyRule(rewrite::pattern::RuleAt<kRule>(kSubsumed), u, rc);
}

std::vector<Case> Cases() {
  std::vector<Case> out;
  [&]<size_t... I>(std::index_sequence<I...>) {
    (out.push_back({rewrite::Describe(rewrite::RuleTable<kSubsumed>::kList.rules[I]), &Apply<I>}),
     ...);
  }
  (std::make_index_sequence<std::remove_cvref_t<decltype(kSubsumed)>::kSize>());
  return out;
}

class Instances {
 public:
  explicit Instances(Scalar s) : type_(s), bounds_(ctx_), order_(ctx_) {}

  // Every name gets a separate value: vars with bounds of any width, constants of any size.
  void Begin() {
    ++number_;
    for (int64_t& c : constants_) c = Number();
    if (OneIn(2)) constants_[1] = constants_[0];
    const analysis::Interval full = analysis::FullInterval(type_.scalar());
    for (analysis::Interval& v : ranges_) {
      const int64_t base = Number();
      v = OneIn(8) ? full
          : OneIn(5)
              ? analysis::Interval::Point(constants_[0])
              : analysis::Interval{base - Int(0, 3) * Int(0, 3), base + Int(0, 3) * Int(0, 9)};
      v = analysis::Intersect(v, full);
      if (v.lo > v.hi) v = full;
    }
  }

  const UOp* Build(const rewrite::PatternTree& t, DType place) {
    switch (t.kind) {
      case Kind::kVar: {
        const auto i = static_cast<size_t>(t.value);
        const std::string name =
            std::string(1, "xyzw"[i]) + std::to_string(number_);  // bounds are learnt once
        const UOp* u = ctx_.Make(Op::kVar, type_, {}, Attr{ctx_.Intern(name)});
        if (!type_.is_float() && !type_.is_bool()) bounds_.Declare(u, ranges_[i]);
        return u;
      }
      case Kind::kConstant:
        return rewrite::UniformConst(ctx_, type_,
                                     Bits(type_, constants_[static_cast<size_t>(t.value)]));
      case Kind::kLiteral:
        return rewrite::UniformConst(ctx_, place, Bits(place, t.value));
      default:
        break;
    }
    std::vector<const UOp*> srcs;
    for (const rewrite::PatternTree& kid : t.kids) srcs.push_back(Build(kid, type_));
    return ctx_.Make(t.op, IsCompare(t.op) ? kBool : type_, srcs);
  }

  const UOp* ApplyAlone(const Case& c, const UOp* u) {
    rewrite::RuleContext rc{ctx_, bounds_, order_, {}};
    return c.apply(u, rc);
  }

  const UOp* Simplified(const UOp* u, const rewrite::RuleSet& rules) {
    rewrite::Rewriter algebra(AlgebraRules(), {ctx_, bounds_, order_, {}});
    rewrite::Rewriter rewriter(rules, {ctx_, bounds_, order_, {}, &algebra});
    const auto result = rewriter.Rewrite(u);
    EXPECT_TRUE(result.ok()) << ToText(ctx_, u);
    return result.ok() ? *result : nullptr;
  }

  // One node, or one number by their bounds.
  bool Same(const UOp* a, const UOp* b) {
    if (a == b || type_.is_float()) return a == b;
    return bounds_.Of(a).IsPoint() && bounds_.Of(a) == bounds_.Of(b);
  }

  std::string Text(const UOp* u) const {
    std::string s = ToText(ctx_, u) + " with x, y in";
    for (size_t i = 0; i < 2; ++i) {
      s += " [" + std::to_string(ranges_[i].lo) + ", " + std::to_string(ranges_[i].hi) + "]";
    }
    return s;
  }

  int64_t Int(int64_t lo, int64_t hi) { return std::uniform_int_distribution(lo, hi)(rng_); }
  bool OneIn(int n) { return Int(1, n) == 1; }

 private:
  static int64_t Bits(DType t, int64_t v) {
    return t.is_float() ? BitsFromDouble(t.scalar(), static_cast<double>(v))
                        : BitsFromInt(t.scalar(), v);
  }
  // Small, or near an end of a type. Far enough from the ends of 64 bits to add a little.
  int64_t Number() {
    if (!OneIn(6)) return Int(-9, 9);
    const int64_t v = (int64_t{1} << Int(5, 61)) + Int(-2, 2);
    return OneIn(2) ? v : -v;
  }

  const DType type_;
  Context ctx_;
  analysis::Bounds bounds_;
  analysis::StructuralOrder order_;
  std::mt19937_64 rng_{7};
  int number_ = 0;
  analysis::Interval ranges_[4];
  int64_t constants_[4] = {};
};

TEST(Subsumed, AllRulesReachTheSameWithoutThem) {
  // They would come right behind what folds constants and what bounds decide.
  const rewrite::RuleSet with({&FoldRules(), &rewrite::RuleTable<kSubsumed>::kList, &AddMulRules(),
                               &DivModRules(), &CompareRules(), &BoolWhereRules(), &BitRules(),
                               &FloatRules(), &WidthRules(), &GeneralRules(), &LaneRules(),
                               &MemoryRules()});
  for (const Case& c : Cases()) {
    for (int i = 1; i < kNumScalars; ++i) {
      const auto s = static_cast<Scalar>(i);
      if (!(rewrite::DomainOf(DType(s)) & c.info.domain)) continue;
      Instances in(s);
      int applied = 0;
      for (int attempt = 0; attempt < 4000; ++attempt) {
        in.Begin();
        const UOp* u = in.Build(c.info.lhs, s);
        if (!in.ApplyAlone(c, u)) continue;
        ++applied;
        ASSERT_TRUE(in.Same(in.Simplified(u, SimplifyRules()), in.Simplified(u, with)))
            << c.info.name << ": " << in.Text(u);
      }
      // The guard held often enough to mean something.
      EXPECT_GE(applied, 20) << c.info.name << " on " << GetScalarInfo(s).text;
    }
  }
}

}  // namespace
}  // namespace tg::simplify
