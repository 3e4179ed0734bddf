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

// Asks about domains S and U, as bit-vectors. `model` receives the counterexample.
Answer AskBits(const RuleInfo& rule, Domain domain, int bits, unsigned timeout_ms,
               std::string* model);
// Several queries about one rule in domain Z, over integers.
class IntegerQuestions {
 public:
  IntegerQuestions(const RuleInfo& rule, unsigned timeout_ms);
  ~IntegerQuestions();

  // Names that are fixed to a number in a query.
  struct Fixed {
    std::vector<std::optional<int64_t>> vars, constants;
  };
  Answer Ask(const Fixed& fixed, std::string* model);

 private:
  struct Solver;
  const RuleInfo& rule_;
  const unsigned timeout_ms_;
  std::unique_ptr<Solver> solver_;
};

}  // namespace tg::prove

#endif  // TG_PASSES_REWRITE_PROVE_Z3_H_
