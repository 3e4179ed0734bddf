#include "passes/simplify/bit_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg::simplify {

const rewrite::RuleList& BitRules() { return rewrite::RuleTable<rule_lists::kBits>::kList; }

}  // namespace tg::simplify
