#include "passes/simplify/div_mod_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg {

const RuleList& DivModRules() { return RuleTable<rule_lists::kDivMod>::kList; }

}  // namespace tg
