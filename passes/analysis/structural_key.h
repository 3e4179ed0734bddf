// A string that is equal for two bodies if and only if the bodies are equal except for names.
#ifndef TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_
#define TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"

namespace tg {

// Encodes the nodes that `body` reaches as a string, in structural order, so that the key is the
// same in every run and every context. `order`: the nodes of the body, sources first. If `starts`
// is given, the key leaves out where shrinks and pads of static extents start, and `starts`
// receives these numbers: the start of each axis of a shrink, and the negated leading padding of
// each axis of a pad.
std::string StructuralKey(const Body& body, UOpSpan order, std::vector<int64_t>* starts = nullptr);

// Whether `starts` receives numbers for this node.
inline bool HasStarts(const UOp* u) {
  return (u->op == Op::kShrink || u->op == Op::kPad) && u->num_srcs == 1;
}

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_
