#include "passes/simplify/bool_where_rules.h"

#include "passes/simplify/rule_lists.h"

namespace tg::simplify {

const rewrite::RuleList& BoolWhereRules() {
  return rewrite::RuleTable<rule_lists::kBoolWhere>::kList;
}

}  // namespace tg::simplify
