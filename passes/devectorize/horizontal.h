// Turns reductions over neighbouring lanes into trees of the op on halves of the lanes: the first
// half of each group with the second, and so on. Where reassociation is off, into the sum from the
// left. Terms that an accumulator gets are added to it one after the other where there are enough
// accumulators side by side to wait for none: so each is one multiply-add, where of a tree's some
// are multiplications and some additions.
#ifndef TG_PASSES_DEVECTORIZE_HORIZONTAL_H_
#define TG_PASSES_DEVECTORIZE_HORIZONTAL_H_

#include "absl/status/status.h"
#include "ir/builder.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "passes/target.h"

namespace tg {

class LaneReducer {
 public:
  // `order`: what the body's root reaches, sources first.
  LaneReducer(Body& body, bool reassociate, const Target& target, UOpSpan order);

  // What node `u` becomes whose sources have become `srcs`; null where it is none of these.
  const UOp* Rewrite(const UOp* u, UOpSpan srcs);
  // An error where a reduce still runs over ranges: lower makes loops of those.
  const absl::Status& status() const { return status_; }

 private:
  Body& body_;
  Builder b_;
  bool reassociate_;
  NodeSet chains_;
  absl::Status status_;
};

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_HORIZONTAL_H_
