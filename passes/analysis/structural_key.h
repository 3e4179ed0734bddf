// A string that is equal for two bodies if and only if the bodies are equal except for names.
#ifndef TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_
#define TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"

namespace tg {

// Encodes the nodes that `body` reaches, in structural order, so that the key is the same in every
// run and every context. `order`: the nodes of the body, sources first.
// `starts`, if given, receives numbers that the key then leaves out, one per axis of each shrink
// and pad of static extents: the start of a shrink, or the negated leading padding of a pad. Both
// say which element of the source is the first of the result.
std::string StructuralKey(const Body& body, UOpSpan order, std::vector<int64_t>* starts = nullptr);

// Whether the node has such numbers.
inline bool HasStarts(const UOp* u) {
  return (u->op == Op::kShrink || u->op == Op::kPad) && u->num_srcs == 1;
}

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_
