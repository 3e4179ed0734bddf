// The value of an expression for given values of its leaves, by the interpreter's scalar arithmetic
// alone: the reference that rewriting is tested against.
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

// `values` holds the leaves (whatever is no constant, elementwise op or op on lanes), and gets the
// value of every node. nullopt where an index overflows.
std::optional<Lanes> Evaluate(const UOp* u, Values& values);

// Bit-equal, or both NaN.
bool SameValue(DType type, const Lanes& a, const Lanes& b);

}  // namespace tg::testing

#endif  // TG_PASSES_REWRITE_TESTING_EVAL_H_
