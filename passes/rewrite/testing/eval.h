// Computes an expression for given values of its leaves, by the interpreter's scalar arithmetic:
// the reference against which rewriting is tested.
#ifndef TG_PASSES_REWRITE_TESTING_EVAL_H_
#define TG_PASSES_REWRITE_TESTING_EVAL_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/uop.h"

namespace tg::testing {

using Lanes = std::vector<int64_t>;  // bits, one word a lane
using Values = std::unordered_map<const UOp*, Lanes>;

// The value of `u`. `values` holds the values of the leaves, which are all nodes except constants,
// elementwise ops and ops on lanes; it receives the value of every node below `u`. nullopt if an
// index overflows.
std::optional<Lanes> Evaluate(const UOp* u, Values& values);

// Whether each lane of `a` and `b` has the same bits, or is NaN in both.
bool SameValue(DType type, const Lanes& a, const Lanes& b);

}  // namespace tg::testing

#endif  // TG_PASSES_REWRITE_TESTING_EVAL_H_
