// Proves every rule on integers, indices and bools, one test a rule and domain, and prints how.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/rewrite/prove.h"
#include "passes/simplify/rule_cases.h"

namespace tg::simplify {
namespace {

struct Obligation {
  const RuleCase* rule;
  rewrite::Domain domain;
};

std::vector<Obligation> Obligations() {
  std::vector<Obligation> all;
  for (const RuleCase& c : AllRuleCases()) {
    for (const rewrite::Domain d :
         {rewrite::pattern::Z, rewrite::pattern::S, rewrite::pattern::U, rewrite::pattern::B}) {
      if (c.info.domain & d) all.push_back({&c, d});
    }
  }
  return all;
}

// Counts of proofs by kind, printed when all tests of this process are done.
std::map<std::string, int>& Table() {
  static std::map<std::string, int> table;
  return table;
}

class PrintTable : public ::testing::Environment {
 public:
  void TearDown() override {
    std::printf("\nproofs by kind:\n");
    for (const auto& [kind, n] : Table()) std::printf("%6d  %s\n", n, kind.c_str());
  }
};
const auto* const kPrintTable = ::testing::AddGlobalTestEnvironment(new PrintTable);

class ProveRule : public ::testing::TestWithParam<Obligation> {};

TEST_P(ProveRule, Holds) {
  prove::Options options;
  // TG_PROOF_TIMEOUT: seconds for each question to the solver.
  if (const char* seconds = std::getenv("TG_PROOF_TIMEOUT")) {
    options.timeout_ms = options.timeout_ms_8_bits =
        static_cast<unsigned>(std::atof(seconds) * 1000);
  }
  const rewrite::RuleInfo& info = GetParam().rule->info;
  const prove::Proof proof = prove::ProveRule(info, GetParam().domain, options);
  const std::string kinds = absl::StrJoin(proof.kinds, ", ");
  std::printf("%-3s %s  [%s]\n", rewrite::DomainName(GetParam().domain).c_str(), info.name.c_str(),
              kinds.c_str());
  EXPECT_TRUE(proof.proven) << info.name << " at " << info.Location()
                            << "\nfails: " << proof.failure;
  ++Table()[absl::StrCat(rewrite::DomainName(GetParam().domain), ": ", kinds)];
}

INSTANTIATE_TEST_SUITE_P(All, ProveRule, ::testing::ValuesIn(Obligations()), [](const auto& info) {
  return absl::StrCat(info.param.rule->Id(), "_", rewrite::DomainName(info.param.domain));
});

TEST(Prover, RefutesWhatIsFalse) {
  using namespace rewrite::pattern;  // NOLINT
  // Truncating division's nest does not hold for floor and negative divisors, and so on: each of
  // these differs from a true rule by one thing.
  static constexpr auto kFalse =
      rules(rule(Z, (x / c0) / c1, x / (c0 * c1), c0 > 0),               // c1 > 0
            rule(Z, (x % c0) % c1, x % c1),                              // c0 % c1 == 0
            rule(Z, (x * c0 + y) / c0, x, c0 > 0 && y >= 0 && y <= c0),  // y < c0
            rule(W, (x * c0) / c0, x, c0 != 0),                          // NoWrap
            rule(W, x + c0 < c1, x < c1 - c0),                           // not modulo 2^n
            rule(S, x >> 1, x / 3),                                      //
            rule(B, x & (x | y), y),                                     //
            rule(Z | W, Max(x, y), x, x >= y * 2));
  std::vector<rewrite::RuleInfo> infos;
  [&]<size_t... I>(std::index_sequence<I...>) {
    (infos.push_back([] {
      static constexpr auto kRule = rewrite::pattern::RuleAt<I>(kFalse);
      return rewrite::Describe(RuleDataOf<kRule>::Get());
    }()),
     ...);
  }
  (std::make_index_sequence<decltype(kFalse)::kSize>());
  for (const rewrite::RuleInfo& info : infos) {
    bool refuted = false;
    for (const rewrite::Domain d : {Z, S, U, B}) {
      if (!(info.domain & d)) continue;
      const prove::Proof proof = prove::ProveRule(info, d, {});
      refuted |= !proof.proven && !proof.failure.empty();
    }
    EXPECT_TRUE(refuted) << info.name;
  }
}

}  // namespace
}  // namespace tg::simplify
