#include "passes/simplify/bit_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg {

const RuleList& BitRules() { return RuleTable<rule_lists::kBits>::kList; }

}  // namespace tg
