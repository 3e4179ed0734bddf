#include "passes/simplify/compare_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg {

const RuleList& CompareRules() { return RuleTable<rule_lists::kCompare>::kList; }

}  // namespace tg
