#include "passes/simplify/div_mod_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg::simplify {

const rewrite::RuleList& DivModRules() { return rewrite::RuleTable<rule_lists::kDivMod>::kList; }

}  // namespace tg::simplify
