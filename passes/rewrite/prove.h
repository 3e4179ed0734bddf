// Proofs of rules: if the guard holds, the left side equals the right side.
//
// Integers that wrap are checked exhaustively at 6 bits (at 4 if the rule has more than four
// names), and by Z3 at 8, 32 and 64 bits if it decides in time; if it does not at 8 bits, rules of
// at most three names are checked exhaustively there. Indices are checked by Z3 over the unbounded
// integers; if it does not decide, then for each value in -2..64 of the constants and of the
// variables that are divisors or factors (a selection of these values if there are three or more
// such names, see ValuesFor in prove.cc). Bools are checked exhaustively. Testonly.
#ifndef TG_PASSES_REWRITE_PROVE_H_
#define TG_PASSES_REWRITE_PROVE_H_

#include <string>
#include <vector>

#include "passes/rewrite/rule_info.h"

namespace tg::prove {

struct Options {
  unsigned timeout_ms = 500;  // of a query at 32 or 64 bits, or over the integers
  unsigned timeout_ms_8_bits = 3000;
};

struct Proof {
  bool proven = false;
  std::vector<std::string> kinds;  // "6 bits", "8 bits", "integers", ...
  std::string failure;             // a counterexample, or the question that was not decided
};

// Proves a rule in one of its domains: Z, S, U or B.
Proof ProveRule(const rewrite::RuleInfo& rule, rewrite::Domain domain, const Options& options);

// For vars, constants and gates: one more than the greatest number of one that occurs in the rule.
struct NameCounts {
  size_t vars = 0, constants = 0, gates = 0;
};
NameCounts CountNames(const rewrite::RuleInfo& rule);

}  // namespace tg::prove

#endif  // TG_PASSES_REWRITE_PROVE_H_
