// Folding where lanes are cut.
#ifndef TG_PASSES_DEVECTORIZE_LANE_FOLDER_H_
#define TG_PASSES_DEVECTORIZE_LANE_FOLDER_H_

#include <optional>

#include "ir/module.h"
#include "ir/walk.h"
#include "passes/simplify/simplify.h"

namespace tg {

// Folds what is a constant in some lanes only, and so became one by being cut: the first lane of
// x + [0, 1, 2, 3], or a choice by [false, true]; and what uses that. Nothing else is looked at:
// simplify has been here.
class LaneFolder {
 public:
  LaneFolder(Context& ctx, const Module& module) : ctx_(ctx), module_(module) {}

  // `made` is of what `u` was before.
  const UOp* operator()(const UOp* u, const UOp* made);

 private:
  Context& ctx_;
  const Module& module_;
  std::optional<Simplifier> simplifier_;
  NodeSet folded_;  // what it has made, or looked at for a new constant
};

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_LANE_FOLDER_H_
