#include "passes/simplify/rule_cases.h"

#include "passes/rewrite/rule_table.h"
#include "passes/simplify/add_mul_rules.h"
#include "passes/simplify/bit_rules.h"
#include "passes/simplify/bool_where_rules.h"
#include "passes/simplify/compare_rules.h"
#include "passes/simplify/div_mod_rules.h"
#include "passes/simplify/float_rules.h"

namespace tg::simplify {
namespace {

template <const auto& kRules, size_t kRule>
const UOp* Apply(const UOp* u, rewrite::RuleContext& rc) {
  if (!rewrite::pattern::RuleAt<kRule>(kRules).HasRoot(u->op)) {
    return nullptr;
  }
  return rewrite::pattern::ApplyRule(rewrite::pattern::RuleAt<kRule>(kRules), u, rc);
}

template <const auto& kRules>
void AddCases(std::vector<RuleCase>& out) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (out.push_back(
         {rewrite::Describe(rewrite::RuleTable<kRules>::kList.rules[I]), &Apply<kRules, I>}),
     ...);
  }
  (std::make_index_sequence<std::remove_cvref_t<decltype(kRules)>::kSize>());
}

bool Uses(const rewrite::PatternTree& t, rewrite::PatternTree::Kind kind, Op op) {
  if (t.kind == kind && (kind != rewrite::PatternTree::Kind::kAlu || t.op == op)) return true;
  for (const rewrite::PatternTree& kid : t.kids) {
    if (Uses(kid, kind, op)) return true;
  }
  return false;
}

}  // namespace

std::string RuleCase::Id() const {
  std::string s = info.Location();
  for (char& c : s) {
    if (c == '.' || c == ':') c = '_';
  }
  return s;
}

void PrintTo(const RuleCase& c, std::ostream* out) { *out << c.info.name; }

const std::vector<RuleCase>& AllRuleCases() {
  static const std::vector<RuleCase> kCases = [] {
    std::vector<RuleCase> cases;
    AddCases<rule_lists::kAddMul>(cases);
    AddCases<rule_lists::kDivMod>(cases);
    AddCases<rule_lists::kCompare>(cases);
    AddCases<rule_lists::kBoolWhere>(cases);
    AddCases<rule_lists::kBits>(cases);
    AddCases<rule_lists::kFloat>(cases);
    return cases;
  }();
  return kCases;
}

Exactness ExactnessOf(const rewrite::RuleInfo& info) {
  if (Uses(info.guard, rewrite::PatternTree::Kind::kFlag, Op::kNoop))
    return Exactness::kByPermission;
  const bool constant = info.rhs.kind == rewrite::PatternTree::Kind::kLiteral ||
                        info.rhs.kind == rewrite::PatternTree::Kind::kVar;
  const bool pow = Uses(info.lhs, rewrite::PatternTree::Kind::kAlu, Op::kPow);
  return pow && !constant ? Exactness::kAccuracyOfPow : Exactness::kExact;
}

}  // namespace tg::simplify
