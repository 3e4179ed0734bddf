#include "passes/simplify/add_mul_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg::simplify {

const rewrite::RuleList& AddMulRules() { return rewrite::RuleTable<rule_lists::kAddMul>::kList; }

}  // namespace tg::simplify
