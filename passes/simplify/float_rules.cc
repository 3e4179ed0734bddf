#include "passes/simplify/float_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg::simplify {

const rewrite::RuleList& FloatRules() { return rewrite::RuleTable<rule_lists::kFloat>::kList; }

}  // namespace tg::simplify
