// Rules checked for all values of a small type.
#ifndef TG_PASSES_REWRITE_PROVE_SMALL_H_
#define TG_PASSES_REWRITE_PROVE_SMALL_H_

#include <string>

#include "passes/rewrite/rule_info.h"

namespace tg::prove {

// Where a rule fails: values of its names as text; empty: nowhere.
// Domains S, U: integers of `bits` bits. B: `bits` does not matter.
std::string FindCounterexample(const RuleInfo& rule, Domain domain, int bits);
// Domain Z: vars and constants in lo..hi, a selection of them where there are many names.
std::string FindSmallIntegerCounterexample(const RuleInfo& rule, int64_t lo, int64_t hi);
// Whether the guard holds over the integers for these constants, where it speaks of them alone.
bool GuardMayHold(const RuleInfo& rule, const std::vector<int64_t>& constants);

}  // namespace tg::prove

#endif  // TG_PASSES_REWRITE_PROVE_SMALL_H_
