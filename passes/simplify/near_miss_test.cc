// Applies each rule alone to an expression that is made from its left side: it must be applied, and
// both sides must have the same value. Then to near misses, which differ in one constant, bound,
// literal, name or type: at least one must not be rewritten, and if one is, the values must still
// agree.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

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

constexpr double kNumbers[] = {2, 3, 4, 6, 12, 1, 0, -1, -2, 5, 8, 16, 7, -3, 64, 0.5};
constexpr analysis::Interval kRanges[] = {{-100, 100}, {0, 100}, {1, 50},  {0, 1},
                                          {0, 3},      {0, 0},   {-2, -1}, {4, 5},
                                          {-50, -1},   {-4, 0},  {2, 2},   {6, 7}};

// The nodes bound to the names of a pattern.
struct Instance {
  DType type;
  std::vector<analysis::Interval> ranges;  // of vars
  std::vector<double> constants;
  Scalar scalar() const { return type.scalar(); }
};

DType TypeOf(rewrite::Domain d) {
  switch (d) {
    case rewrite::pattern::Z:
      return kIndex;
    case rewrite::pattern::S:
      return Scalar::kI8;
    case rewrite::pattern::U:
      return Scalar::kU8;
    case rewrite::pattern::B:
      return kBool;
    default:
      return kF32;
  }
}

class Workshop {
 public:
  Workshop() : bounds_(ctx_), order_(ctx_) {}

  // `place`: the type that a literal takes.
  const UOp* Build(const rewrite::PatternTree& t, const Instance& in, DType place) {
    switch (t.kind) {
      case Kind::kVar: {
        const analysis::Interval r = in.ranges[static_cast<size_t>(t.value)];
        const std::string name =
            std::string(1, "xyzwabcd"[t.value]) + std::to_string(r.lo) + "_" + std::to_string(r.hi);
        const UOp* u = ctx_.Make(Op::kVar, in.type, {}, Attr{ctx_.Intern(name)});
        if (!in.type.is_float()) bounds_.Declare(u, r);
        return u;
      }
      case Kind::kGate:
        return ctx_.Make(Op::kVar, kBool, {}, Attr{ctx_.Intern(std::string(1, "pqrstu"[t.value]))});
      case Kind::kConstant:
        return Number(in.type, in.constants[static_cast<size_t>(t.value)]);
      case Kind::kLiteral:
        return Number(place, static_cast<double>(t.value));
      case Kind::kFloatLiteral:
        return Number(place, t.real);
      default:
        break;
    }
    const bool bool_operands = t.operand == rewrite::pattern::Type::kBool ||
                               (t.operand == rewrite::pattern::Type::kLiteral && place.is_bool());
    const DType operand = bool_operands ? kBool : in.type;
    std::vector<const UOp*> srcs;
    for (size_t i = 0; i < t.kids.size(); ++i) {
      srcs.push_back(Build(t.kids[i], in, t.op == Op::kWhere && i == 0 ? kBool : operand));
    }
    return ctx_.Make(t.op, rewrite::pattern::IsCompare(t.op) ? kBool : operand, srcs);
  }

  const UOp* Apply(const RuleCase& c, const UOp* u, ModuleFlags flags) {
    rewrite::RuleContext rc{ctx_, bounds_, order_, flags};
    const UOp* v = c.apply(u, rc);
    return v == u ? nullptr : v;
  }

  // Random values of the leaves, within their bounds.
  Values Leaves(const UOp* u, const Instance& in) {
    Values values;
    for (const UOp* l : PostOrder(u)) {
      if (l->op != Op::kVar) continue;
      if (l->dtype.is_float()) {
        static constexpr double kSpecial[] = {0.0,
                                              -0.0,
                                              1,
                                              -1,
                                              3,
                                              0.5,
                                              1e30,
                                              1e-40,
                                              std::numeric_limits<double>::infinity(),
                                              -std::numeric_limits<double>::infinity(),
                                              std::numeric_limits<double>::quiet_NaN(),
                                              7.25};
        const double v = kSpecial[rng_() % std::size(kSpecial)];
        values[l] = {BitsFromDouble(in.scalar(), v)};
      } else {
        const analysis::Interval r = analysis::Intersect(bounds_.Of(l), {-200, 200});
        values[l] = {std::uniform_int_distribution<int64_t>(r.lo, r.hi)(rng_)};
      }
    }
    return values;
  }

  // Both sides have one value for some values of the leaves.
  void ExpectSame(const RuleCase& c, const UOp* before, const UOp* after, const Instance& in) {
    if (ExactnessOf(c.info) != Exactness::kExact) return;
    for (int i = 0; i < 60; ++i) {
      Values values = Leaves(before, in), values_after = values;
      const auto want = Evaluate(before, values), got = Evaluate(after, values_after);
      ASSERT_TRUE(!want || (got && SameValue(before->dtype, *want, *got)))
          << c.info.name << "\n"
          << ::tg::testing::ToText(ctx_, before) << " -> " << ::tg::testing::ToText(ctx_, after);
    }
  }

  std::mt19937_64& rng() { return rng_; }

 private:
  const UOp* Number(DType t, double v) {
    return rewrite::UniformConst(ctx_, t,
                                 t.is_float() ? BitsFromDouble(t.scalar(), v)
                                              : BitsFromInt(t.scalar(), static_cast<int64_t>(v)));
  }

  Context ctx_;
  analysis::Bounds bounds_;
  analysis::StructuralOrder order_;
  std::mt19937_64 rng_{12345};
};

void CountNames(const rewrite::PatternTree& t, size_t* vars, size_t* constants) {
  if (t.kind == Kind::kVar) *vars = std::max(*vars, static_cast<size_t>(t.value) + 1);
  if (t.kind == Kind::kConstant)
    *constants = std::max(*constants, static_cast<size_t>(t.value) + 1);
  for (const rewrite::PatternTree& kid : t.kids) CountNames(kid, vars, constants);
}

analysis::Interval Within(Scalar s, analysis::Interval r) {
  if (IsFloat(s)) return r;
  const analysis::Interval v = analysis::Intersect(r, analysis::FullInterval(s));
  return v.lo <= v.hi ? v : analysis::Interval{0, 1};
}

// Left sides with one literal changed, or one occurrence of a repeated name given another name.
void Mutations(rewrite::PatternTree& t, const rewrite::PatternTree& root,
               std::map<int64_t, int>& seen, std::vector<rewrite::PatternTree>& out) {
  if (t.kind == Kind::kLiteral) {
    t.value ^= 1;
    out.push_back(root);
    t.value ^= 1;
  }
  const bool is_gate = t.kind == Kind::kGate;
  if ((t.kind == Kind::kVar || is_gate) && seen[t.value + (is_gate ? 100 : 0)]++ > 0) {
    const int64_t other = is_gate ? 3 : 4;
    t.value += other;
    out.push_back(root);
    t.value -= other;
  }
  for (rewrite::PatternTree& kid : t.kids) Mutations(kid, root, seen, out);
}

class NearMiss : public ::testing::TestWithParam<RuleCase> {};

TEST_P(NearMiss, AppliesOnlyWhereItMay) {
  const RuleCase& c = GetParam();
  Workshop shop;
  size_t vars = 0, constants = 0;
  CountNames(c.info.lhs, &vars, &constants);
  constexpr ModuleFlags kAllFlags = {ModuleFlag::kNoNan, ModuleFlag::kZeroMul,
                                     ModuleFlag::kInfRatio, ModuleFlag::kFastMath};
  for (const rewrite::Domain d : {rewrite::pattern::Z, rewrite::pattern::S, rewrite::pattern::U,
                                  rewrite::pattern::B, rewrite::pattern::F}) {
    if (!(c.info.domain & d)) continue;
    // An instance that the rule takes.
    Instance in{TypeOf(d), {}, {}};
    const UOp *u = nullptr, *v = nullptr;
    for (int attempt = 0; attempt < 200000 && !v; ++attempt) {
      in.ranges.clear();
      in.constants.clear();
      for (size_t i = 0; i < vars + 4; ++i) {
        in.ranges.push_back(Within(in.scalar(), kRanges[shop.rng()() % std::size(kRanges)]));
      }
      for (size_t i = vars; i < 8; ++i) in.ranges.push_back(Within(in.scalar(), {-100, 100}));
      for (size_t i = 0; i < constants; ++i) {
        in.constants.push_back(kNumbers[shop.rng()() % std::size(kNumbers)]);
      }
      u = shop.Build(c.info.lhs, in, in.type);
      v = shop.Apply(c, u, kAllFlags);
      if (v) shop.ExpectSame(c, u, v, in);
    }
    ASSERT_TRUE(v) << c.info.name << " is never applied to " << in.type.ToString();
    if (HasFatalFailure()) return;
    EXPECT_EQ(v->dtype, u->dtype);
    // Near misses.
    int misses = 0;
    const auto attempt = [&](const rewrite::PatternTree& lhs, const Instance& other,
                             ModuleFlags flags) {
      const UOp* before = shop.Build(lhs, other, other.type);
      const UOp* after = shop.Apply(c, before, flags);
      if (after) {
        shop.ExpectSame(c, before, after, other);
      } else {
        ++misses;
      }
    };
    for (size_t i = 0; i < constants; ++i) {
      for (double n : kNumbers) {
        Instance other = in;
        other.constants[i] = n;
        attempt(c.info.lhs, other, kAllFlags);
      }
    }
    for (size_t i = 0; i < vars; ++i) {
      for (analysis::Interval r : kRanges) {
        Instance other = in;
        other.ranges[i] = Within(in.scalar(), r);
        attempt(c.info.lhs, other, kAllFlags);
      }
    }
    rewrite::PatternTree lhs = c.info.lhs;
    std::map<int64_t, int> seen;
    std::vector<rewrite::PatternTree> mutations;
    Mutations(lhs, lhs, seen, mutations);
    for (const rewrite::PatternTree& m : mutations) attempt(m, in, kAllFlags);
    for (const rewrite::Domain other_domain :
         {rewrite::pattern::Z, rewrite::pattern::S, rewrite::pattern::B, rewrite::pattern::F}) {
      if (c.info.domain & other_domain) continue;
      Instance other = in;
      other.type = TypeOf(other_domain);
      for (analysis::Interval& r : other.ranges) r = Within(other.scalar(), r);
      const UOp* before = shop.Build(c.info.lhs, other, other.type);
      // Where nothing in the left side has the rule's type, it has no say.
      EXPECT_EQ(shop.Apply(c, before, kAllFlags), nullptr) << other.type.ToString();
      ++misses;
    }
    if (ExactnessOf(c.info) == Exactness::kByPermission) {
      EXPECT_EQ(shop.Apply(c, u, {}), nullptr) << "without the flag";
      ++misses;
    }
    EXPECT_GT(misses, 0) << c.info.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, NearMiss, ::testing::ValuesIn(AllRuleCases()),
                         [](const auto& info) { return info.param.Id(); });

}  // namespace
}  // namespace tg::simplify
