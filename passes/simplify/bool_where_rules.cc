#include "passes/simplify/bool_where_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg {

const RuleList& BoolWhereRules() { return RuleTable<rule_lists::kBoolWhere>::kList; }

}  // namespace tg
