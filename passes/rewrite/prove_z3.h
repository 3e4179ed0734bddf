// Rules as questions to Z3.
#ifndef TG_PASSES_REWRITE_PROVE_Z3_H_
#define TG_PASSES_REWRITE_PROVE_Z3_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "passes/rewrite/rule_info.h"

namespace tg::prove {

enum class Answer { kProven, kRefuted, kUndecided };

// Domains S and U, as bit-vectors. `model` gets the counterexample.
Answer AskBits(const RuleInfo& rule, Domain domain, int bits, unsigned timeout_ms,
               std::string* model);
// Domain Z, as integers; a name that has a value here is that number.
struct Fixed {
  std::vector<std::optional<int64_t>> vars, constants;
};
Answer AskIntegers(const RuleInfo& rule, const Fixed& fixed, unsigned timeout_ms,
                   std::string* model);

}  // namespace tg::prove

#endif  // TG_PASSES_REWRITE_PROVE_Z3_H_
