// Ensembles of decision trees. All conditions are evaluated (leaf_masks.h), or all trees together,
// one level per step, by gathers from tables of their nodes.
#ifndef TG_FRONTEND_ONNX_FOREST_H_
#define TG_FRONTEND_ONNX_FOREST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// How an interior node compares a feature with its number.
enum class Branch : int64_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };
// How the weights of the trees' leaves are combined into a score.
enum class Aggregate : int64_t { kAverage, kSum, kMin, kMax };

struct Forest {
  // Both branches of a leaf refer to the leaf itself.
  struct Node {
    int64_t feature = 0;
    Branch branch = Branch::kLeq;
    double split = 0;
    std::vector<double> members;  // kMember: the values for which the condition holds
    bool missing_is_true = false;
    int64_t yes = 0, no = 0;
    bool is_leaf = false;
  };
  // What a leaf adds to a target.
  struct Weight {
    int64_t leaf = 0, target = 0;
    double weight = 0;
  };
  std::vector<Node> nodes;
  std::vector<Weight> weights;
  Ints roots;
  int64_t num_targets = 1;

  void AddLeaf();
};

// Returns the scores, [batch, targets], of x, a float tensor [batch, features]. Records an error in
// `g` and returns null if the forest is malformed: a branch to a node or a weight for a leaf or
// target that does not exist, a cycle, or too many targets.
Value ScoreForest(GraphBuilder& g, const Forest& forest, Value x, Aggregate aggregate);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_FOREST_H_
