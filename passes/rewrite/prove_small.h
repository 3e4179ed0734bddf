// Checks rules for all values of a small type.
#ifndef TG_PASSES_REWRITE_PROVE_SMALL_H_
#define TG_PASSES_REWRITE_PROVE_SMALL_H_

#include <string>

#include "passes/rewrite/rule_info.h"

namespace tg::prove {

// A counterexample to a rule, as values of its names; empty if there is none. Domains S and U:
// integers of `bits` bits. Domain B ignores `bits`.
std::string FindCounterexample(const RuleInfo& rule, Domain domain, int bits);
// Domain Z: vars and constants in lo..hi, a selection of them where there are many names.
std::string FindSmallIntegerCounterexample(const RuleInfo& rule, int64_t lo, int64_t hi);
// Whether the guard may hold over the integers for these constants. Only clauses over constants
// alone are evaluated.
bool GuardMayHold(const RuleInfo& rule, const std::vector<int64_t>& constants);

}  // namespace tg::prove

#endif  // TG_PASSES_REWRITE_PROVE_SMALL_H_
