#include "passes/rewrite/prove.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "passes/rewrite/prove_small.h"
#include "passes/rewrite/prove_z3.h"

namespace tg::prove {
namespace {

using rewrite::pattern::B;
using rewrite::pattern::S;
using rewrite::pattern::U;
using rewrite::pattern::Z;

void Count(const rewrite::PatternTree& t, NameCounts& counts) {
  using Kind = rewrite::PatternTree::Kind;
  const auto n = static_cast<size_t>(t.value) + 1;
  if (t.kind == Kind::kVar) counts.vars = std::max(counts.vars, n);
  if (t.kind == Kind::kGate) counts.gates = std::max(counts.gates, n);
  if (t.kind == Kind::kConstant) counts.constants = std::max(counts.constants, n);
  for (const rewrite::PatternTree& kid : t.kids) Count(kid, counts);
}

// Marks the vars that are the right operand of a division or multiplication. Fixing these makes the
// rule linear for Z3.
void CollectFactors(const rewrite::PatternTree& t, std::vector<bool>& is_factor) {
  const bool division = t.op == Op::kFloorDiv || t.op == Op::kFloorMod || t.op == Op::kCDiv ||
                        t.op == Op::kCMod || t.op == Op::kMul;
  if (t.kind == rewrite::PatternTree::Kind::kAlu && division &&
      t.kids[1].kind == rewrite::PatternTree::Kind::kVar) {
    is_factor[static_cast<size_t>(t.kids[1].value)] = true;
  }
  for (const rewrite::PatternTree& kid : t.kids) CollectFactors(kid, is_factor);
}

Proof ProveBits(const rewrite::RuleInfo& rule, rewrite::Domain domain, const Options& options) {
  Proof proof;
  const NameCounts counts = CountNames(rule);
  const int small_bits = counts.vars + counts.constants <= 4 ? 6 : 4;
  proof.failure = FindCounterexample(rule, domain, small_bits);
  if (!proof.failure.empty()) return proof;
  proof.kinds.push_back(absl::StrCat(small_bits, " bits"));
  for (const int bits : {8, 32, 64}) {
    const unsigned timeout = bits == 8 ? options.timeout_ms_8_bits : options.timeout_ms;
    const Answer answer = AskBits(rule, domain, bits, timeout, &proof.failure);
    if (answer == Answer::kRefuted) return proof;
    if (answer == Answer::kProven) proof.kinds.push_back(absl::StrCat("Z3 ", bits, " bits"));
    if (answer == Answer::kUndecided && bits == 8 && counts.vars + counts.constants <= 3) {
      proof.failure = FindCounterexample(rule, domain, 8);
      if (!proof.failure.empty()) return proof;
      proof.kinds.push_back("8 bits");
    }
    // A query that is too hard at 32 bits is too hard at 64.
    if (answer == Answer::kUndecided && bits == 32) break;
  }
  proof.proven = true;
  return proof;
}

// The values that ProveEach gives to each of `n` names: -2..64, or with three or more names -2..6,
// 8, 12 and 64.
std::vector<int64_t> ValuesFor(size_t n) {
  std::vector<int64_t> values;
  for (int64_t v = -2; v <= (n <= 2 ? 64 : 6); ++v) values.push_back(v);
  if (n > 2) values.insert(values.end(), {8, 12, 64});
  return values;
}

// Proves the rule for each combination of values of the constants and of the vars that
// CollectFactors marks, unless the guard excludes it. Fails if one combination is not proven, or if
// the guard excludes all.
Proof ProveEach(const rewrite::RuleInfo& rule, const Options& options) {
  const NameCounts counts = CountNames(rule);
  std::vector<bool> is_factor(counts.vars, false);
  CollectFactors(rule.lhs, is_factor);
  CollectFactors(rule.rhs, is_factor);
  std::vector<size_t> factors;
  for (size_t i = 0; i < counts.vars; ++i) {
    if (is_factor[i]) factors.push_back(i);
  }
  const size_t n = counts.constants + factors.size();
  const std::vector<int64_t> list = ValuesFor(n);
  IntegerQuestions questions(rule, options.timeout_ms);
  Proof proof;
  std::vector<size_t> at(n, 0);  // positions in `list`
  size_t cases = 0;
  for (bool more = n > 0; more;) {
    IntegerQuestions::Fixed fixed;
    std::vector<int64_t> constants;
    for (size_t i = 0; i < counts.constants; ++i) constants.push_back(list[at[i]]);
    fixed.constants.assign(constants.begin(), constants.end());
    fixed.vars.resize(counts.vars);
    for (size_t i = 0; i < factors.size(); ++i) {
      fixed.vars[factors[i]] = list[at[counts.constants + i]];
    }
    if (GuardMayHold(rule, constants)) {
      ++cases;
      const Answer answer = questions.Ask(fixed, &proof.failure);
      if (answer != Answer::kProven) {
        std::string values;
        for (size_t i : at) absl::StrAppend(&values, list[i], " ");
        proof.failure = absl::StrCat(answer == Answer::kRefuted ? "refuted" : "undecided",
                                     " for constants ", values, proof.failure);
        return proof;
      }
    }
    more = false;
    for (size_t& i : at) {
      if (i + 1 < list.size()) {
        ++i;
        more = true;
        break;
      }
      i = 0;
    }
  }
  if (cases == 0) {
    proof.failure = "undecided over the integers";
    return proof;
  }
  proof.kinds.push_back(absl::StrCat("Z3 integers, ", n, n == 1 ? " constant" : " constants",
                                     n <= 2 ? ", each in -2..64" : ", some of -2..64"));
  proof.proven = true;
  return proof;
}

Proof ProveIntegers(const rewrite::RuleInfo& rule, const Options& options) {
  Proof proof;
  const NameCounts counts = CountNames(rule);
  const size_t names = counts.vars + counts.constants;
  const int64_t reach = names <= 2 ? 40 : names == 3 ? 12 : names == 4 ? 6 : 3;
  proof.failure = FindSmallIntegerCounterexample(rule, -reach, reach);
  if (!proof.failure.empty()) return proof;
  const Answer answer = IntegerQuestions(rule, options.timeout_ms).Ask({}, &proof.failure);
  if (answer == Answer::kRefuted) return proof;
  if (answer == Answer::kUndecided) return ProveEach(rule, options);
  proof.kinds.push_back("Z3 integers");
  proof.proven = true;
  return proof;
}

}  // namespace

NameCounts CountNames(const rewrite::RuleInfo& rule) {
  NameCounts counts;
  Count(rule.lhs, counts);
  Count(rule.rhs, counts);
  Count(rule.guard, counts);
  return counts;
}

Proof ProveRule(const rewrite::RuleInfo& rule, rewrite::Domain domain, const Options& options) {
  if (domain == Z) return ProveIntegers(rule, options);
  if (domain == S || domain == U) return ProveBits(rule, domain, options);
  Proof proof;
  proof.failure = FindCounterexample(rule, B, 1);
  proof.proven = proof.failure.empty();
  proof.kinds.push_back("all cases");
  return proof;
}

}  // namespace tg::prove
