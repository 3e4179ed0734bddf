// Lowers horizontal reductions over groups of lanes to trees: the op combines the first half of
// each group with the second half, and so on. Without permission to reassociate, the terms are
// combined from left to right. The terms of a sum that is added to an accumulator are added to it
// one by one if the latency is hidden, on a CPU by enough independent accumulators: each term is
// then one multiply-add, while a tree needs separate multiplications and additions.
#ifndef TG_PASSES_DEVECTORIZE_HORIZONTAL_H_
#define TG_PASSES_DEVECTORIZE_HORIZONTAL_H_

#include "absl/status/status.h"
#include "ir/builder.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "passes/target.h"

namespace tg::devectorize {

class LaneReducer {
 public:
  // `order`: the nodes that the body's root reaches, sources first.
  LaneReducer(Body& body, bool reassociate, const passes::Target& target, UOpSpan order);

  // The replacement of node `u`, whose new sources are `srcs`, if it is such a reduction, or the
  // addition to an accumulator that takes the reduction's terms one by one. Null for other nodes,
  // and for a reduction whose addition is replaced instead.
  const UOp* Rewrite(const UOp* u, UOpSpan srcs);
  // An error if a reduce still runs over ranges, which the pass `lower` turns into loops.
  const absl::Status& status() const { return status_; }

 private:
  Body& body_;
  Builder b_;
  bool reassociate_;
  NodeSet chains_;
  absl::Status status_;
};

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_HORIZONTAL_H_
