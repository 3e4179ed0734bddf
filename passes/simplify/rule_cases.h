// Every pattern rule of this folder (those of the *_rules.h files), with a function that applies it
// alone. Testonly.
#ifndef TG_PASSES_SIMPLIFY_RULE_CASES_H_
#define TG_PASSES_SIMPLIFY_RULE_CASES_H_

#include <ostream>
#include <string>
#include <vector>

#include "passes/rewrite/rule_info.h"

namespace tg::simplify {

struct RuleCase {
  rewrite::RuleInfo info;
  rewrite::RuleFn apply;

  // "div_mod_rules_h_32", for test names.
  std::string Id() const;
};

void PrintTo(const RuleCase& c, std::ostream* out);  // its name, for messages

const std::vector<RuleCase>& AllRuleCases();

// Whether the rule `info` keeps all bits, keeps only the accuracy of `pow`, or needs a module flag.
enum class Exactness { kExact, kAccuracyOfPow, kByPermission };
Exactness ExactnessOf(const rewrite::RuleInfo& info);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_RULE_CASES_H_
