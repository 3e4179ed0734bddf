#include "passes/simplify/compare_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg::simplify {

const rewrite::RuleList& CompareRules() { return rewrite::RuleTable<rule_lists::kCompare>::kList; }

}  // namespace tg::simplify
