// Turns the left sides of simplify's rules into templates for random graphs, so that graphs contain
// matches.
#ifndef TG_TOOLS_FUZZ_RULE_TEMPLATES_H_
#define TG_TOOLS_FUZZ_RULE_TEMPLATES_H_

#include <vector>

#include "ir/testing/expr_template.h"
#include "passes/rewrite/rule_table.h"

namespace tg::fuzz {

// Returns a template for each rule that is a pattern.
std::vector<testing::RootTemplate> RuleTemplates(const rewrite::RuleSet& rules);

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_RULE_TEMPLATES_H_
