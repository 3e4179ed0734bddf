// Checks rules exhaustively, for all values of a small type or all integers of a small interval.
#ifndef TG_PASSES_REWRITE_PROVE_SMALL_H_
#define TG_PASSES_REWRITE_PROVE_SMALL_H_

#include <string>

#include "passes/rewrite/rule_info.h"

namespace tg::prove {

// A counterexample to a rule, as values of its names; empty if there is none. Domains S and U:
// integers of `bits` bits. Domain B ignores `bits`.
std::string FindCounterexample(const rewrite::RuleInfo& rule, rewrite::Domain domain, int bits);
// The same in domain Z, for all values of vars and constants in lo..hi.
std::string FindSmallIntegerCounterexample(const rewrite::RuleInfo& rule, int64_t lo, int64_t hi);
// Whether the guard may hold for these constants, over the integers. Only clauses that name no var
// or gate are evaluated; the others are taken to hold.
bool GuardMayHold(const rewrite::RuleInfo& rule, const std::vector<int64_t>& constants);

}  // namespace tg::prove

#endif  // TG_PASSES_REWRITE_PROVE_SMALL_H_
