// Forests whose conditions are all evaluated, without gathers that wait for one another.
//
// Leaves of a tree are numbered from left to right, with the branch for yes on the left. A node
// whose condition does not hold excludes the leaves of its left branch. The first leaf that no node
// excludes is where a walk from the root ends (QuickScorer, Lucchese et al., 2015). Leaves are bits
// of words: a word is the conjunction of a mask for each condition that does not hold.
#ifndef TG_FRONTEND_ONNX_LEAF_MASKS_H_
#define TG_FRONTEND_ONNX_LEAF_MASKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/onnx/forest.h"

namespace tg::onnx {

struct LeafMasks {
  // The condition `sign * feature <= split`, and which bits remain where it does not hold.
  struct Condition {
    int64_t feature = 0;
    double sign = 1, split = 0;
    int64_t mask = -1;
  };
  int64_t bits = 0;                            // of a word
  int64_t trees = 0, words = 0, per_word = 0;  // words of a tree; conditions of a word
  std::vector<Condition> conditions;           // [trees, words, per_word]
  std::vector<std::vector<int64_t>> leaves;    // by tree: the nodes that are its leaves, in order
};

// None if a node has two parents, if a condition is no comparison of this form with a number of
// `type`, or if `depth` steps of all trees take less time. Nodes exist, and form no cycles.
std::optional<LeafMasks> MaskLeaves(const Forest& forest, int64_t depth, const Dim& rows,
                                    Scalar type);

// The number of the leaf of each tree for each row of x: i32[trees, rows].
Value FindLeaves(GraphBuilder& g, const LeafMasks& masks, Value x);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_LEAF_MASKS_H_
