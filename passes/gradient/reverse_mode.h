// Reverse mode: the gradients of a node of a tensor graph, as nodes of the same graph.
#ifndef TG_PASSES_GRADIENT_REVERSE_MODE_H_
#define TG_PASSES_GRADIENT_REVERSE_MODE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "ir/uop.h"

namespace tg::gradient {

// The gradients of the sum of the elements of `of`, a node of floats, with respect to each node of
// `wrt`; each has the shape and type of its node. Null: `of` does not depend on it, by floats that
// have a derivative. InvalidArgument names the first node on the way that has none, and its place.
// `checkpoints`: of KeepCheckpoints (recompute.h); what is between two of them is computed again.
absl::StatusOr<std::vector<const UOp*>> Gradients(Module& module, Body& body, const UOp* of,
                                                  UOpSpan wrt, UOpSpan checkpoints = {});

// What the table of rules.h says about an op. kNoFloats: its values are no floats, so that no
// gradient reaches it. kNoGraphs: no tensor graph has it.
enum class RuleKind : uint8_t { kMissing, kPattern, kFunction, kRefused, kNoFloats, kNoGraphs };
RuleKind KindOfRule(Op op);

}  // namespace tg::gradient

#endif  // TG_PASSES_GRADIENT_REVERSE_MODE_H_
