// A string that is equal for two bodies if their nodes are equal in the same order. Names of nodes
// do not count.
#ifndef TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_
#define TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"

namespace tg::analysis {

// Encodes the nodes of `body` as a string, in the order `order`, which has sources first. Nodes are
// numbered by their position there and strings are written out, so that the key does not depend on
// the context. If `starts` is given, the key leaves out where shrinks and pads of static extents
// start, and `starts` receives these numbers: the start of each axis of a shrink, and the negated
// leading padding of each axis of a pad.
std::string StructuralKey(const Body& body, UOpSpan order, std::vector<int64_t>* starts = nullptr);

// Whether `starts` receives numbers for this node: it is a shrink or pad of static extents.
inline bool HasStarts(const UOp* u) {
  return (u->op == Op::kShrink || u->op == Op::kPad) && u->num_srcs == 1;
}

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_
