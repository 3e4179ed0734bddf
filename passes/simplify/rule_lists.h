// The rule lists of this folder. Each one is compiled in a separate file.
#ifndef TG_PASSES_SIMPLIFY_RULE_LISTS_H_
#define TG_PASSES_SIMPLIFY_RULE_LISTS_H_

#include "passes/rewrite/rule_table.h"

namespace tg {

const RuleList& FoldRules();       // constants, casts, the order of operands
const RuleList& AddMulRules();     // add_mul_rules.h
const RuleList& DivModRules();     // div_mod_rules.h
const RuleList& CompareRules();    // compare_rules.h
const RuleList& BoolWhereRules();  // bool_where_rules.h
const RuleList& BitRules();        // bit_rules.h
const RuleList& FloatRules();      // float_rules.h
const RuleList& GeneralRules();    // ops with any number of operands
const RuleList& LaneRules();       // vectors
const RuleList& MemoryRules();     // gates, loads, stores

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_RULE_LISTS_H_
