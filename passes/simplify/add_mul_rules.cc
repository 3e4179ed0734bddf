#include "passes/simplify/add_mul_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg {

const RuleList& AddMulRules() { return RuleTable<rule_lists::kAddMul>::kList; }

}  // namespace tg
