#include "passes/rewrite/rule_table.h"

namespace tg::rewrite {

RuleSet::RuleSet(std::initializer_list<const RuleList*> lists) {
  for (const RuleList* list : lists) {
    const auto first_rule = static_cast<uint32_t>(rules_.size());
    for (size_t op = 0; op < kNumOps; ++op) {
      if (list->by_op[op]) by_op_[op].push_back({list->by_op[op], first_rule});
    }
    for (const pattern::RuleData& rule : list->rules) rules_.push_back(&rule);
  }
}

}  // namespace tg::rewrite
