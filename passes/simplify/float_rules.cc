#include "passes/simplify/float_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg {

const RuleList& FloatRules() { return RuleTable<rule_lists::kFloat>::kList; }

}  // namespace tg
