// A string that two bodies share exactly where they are equal but for names.
#ifndef TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_
#define TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"

namespace tg {

// The nodes that `body` reaches, in structure's order: the same in every run and every context.
// `order`: the body's.
// `starts`: if given, bodies with equal strings may differ in what this receives, one number for
// each axis of each shrink and pad of static extents: where a shrink starts, and for a pad, what is
// before the value, negated. So both say which element of the source is the first of the result.
std::string StructuralKey(const Body& body, UOpSpan order, std::vector<int64_t>* starts = nullptr);

// Whether the node has such numbers.
inline bool HasStarts(const UOp* u) {
  return (u->op == Op::kShrink || u->op == Op::kPad) && u->num_srcs == 1;
}

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_
