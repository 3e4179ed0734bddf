// Poses rules as queries to Z3.
#ifndef TG_PASSES_REWRITE_PROVE_Z3_H_
#define TG_PASSES_REWRITE_PROVE_Z3_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "passes/rewrite/rule_info.h"

namespace tg::prove {

enum class Answer { kProven, kRefuted, kUndecided };

// Whether the rule holds in domain S or U for integers of `bits` bits, asked as a query on
// bit-vectors. `model` receives the counterexample.
Answer AskBits(const rewrite::RuleInfo& rule, rewrite::Domain domain, int bits, unsigned timeout_ms,
               std::string* model);
// Queries about one rule in domain Z, over the unbounded integers. They share a Z3 context.
class IntegerQuestions {
 public:
  IntegerQuestions(const rewrite::RuleInfo& rule, unsigned timeout_ms);
  ~IntegerQuestions();

  // The numbers to which names are fixed in a query; a name without a number may have any value.
  struct Fixed {
    std::vector<std::optional<int64_t>> vars, constants;
  };
  Answer Ask(const Fixed& fixed, std::string* model);

 private:
  struct Solver;
  const rewrite::RuleInfo& rule_;
  const unsigned timeout_ms_;
  std::unique_ptr<Solver> solver_;
};

}  // namespace tg::prove

#endif  // TG_PASSES_REWRITE_PROVE_Z3_H_
