// Constant folding after vectors are split.
#ifndef TG_PASSES_DEVECTORIZE_LANE_FOLDER_H_
#define TG_PASSES_DEVECTORIZE_LANE_FOLDER_H_

#include <optional>

#include "ir/module.h"
#include "ir/walk.h"
#include "passes/simplify/simplify.h"

namespace tg::devectorize {

// Simplifies nodes of which a source became constant because its vector was split, such as the
// first lane of x + [0, 1, 2, 3] or a select by [false, true], and the users of such nodes. It
// skips other nodes because simplify has already processed them.
class LaneFolder {
 public:
  LaneFolder(Context& ctx, const Module& module) : ctx_(ctx), module_(module) {}

  // The simplified form of `made`, the new node created from the old node `u`; or `made` itself.
  const UOp* operator()(const UOp* u, const UOp* made);

 private:
  Context& ctx_;
  const Module& module_;
  std::optional<simplify::Simplifier> simplifier_;
  NodeSet folded_;  // results that have changed or have a new constant, so that users are checked
};

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_LANE_FOLDER_H_
