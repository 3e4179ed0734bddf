// The rule lists of this folder. The lists with a header NAME_rules.h are each compiled in
// NAME_rules.cc; the lists of functions are in function_rules.cc.
#ifndef TG_PASSES_SIMPLIFY_RULE_LISTS_H_
#define TG_PASSES_SIMPLIFY_RULE_LISTS_H_

#include "passes/rewrite/rule_table.h"

namespace tg::simplify {

const rewrite::RuleList& FoldRules();       // constants, bounds, the order of operands
const rewrite::RuleList& AddMulRules();     // add_mul_rules.h
const rewrite::RuleList& DivModRules();     // div_mod_rules.h
const rewrite::RuleList& CompareRules();    // compare_rules.h
const rewrite::RuleList& BoolWhereRules();  // bool_where_rules.h
const rewrite::RuleList& BitRules();        // bit_rules.h
const rewrite::RuleList& FloatRules();      // float_rules.h
const rewrite::RuleList& WidthRules();      // the type in which products are computed
const rewrite::RuleList& GeneralRules();    // sums of any number of terms, comparisons, casts
const rewrite::RuleList& LaneRules();       // vectors
const rewrite::RuleList& MemoryRules();     // gates, loads, stores, reduces

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_RULE_LISTS_H_
