#include "passes/devectorize/lane_folder.h"

#include "passes/rewrite/rule_context.h"

namespace tg::devectorize {

const UOp* LaneFolder::operator()(const UOp* u, const UOp* made) {
  if (!IsElementwise(made->op) || !made->dtype.is_value()) return made;
  bool is_new = false, all = true, uses_new = false;
  for (size_t i = 0; i < made->num_srcs; ++i) {
    const bool is_constant = rewrite::UniformBits(made->src(i)).has_value();
    is_new |= is_constant && !rewrite::UniformBits(u->src(i));
    all &= is_constant;
    uses_new |= folded_.Contains(made->src(i));
  }
  // The rules could turn a division or power into ops that earlier steps have legalized and that
  // would have to be legalized again, so these are folded only if all sources are constant.
  const bool divides = made->op == Op::kDiv || made->op == Op::kCDiv || made->op == Op::kCMod;
  if (!(is_new || uses_new) || (!all && (divides || made->op == Op::kPow))) return made;
  if (!simplifier_) simplifier_.emplace(ctx_, &module_);
  const UOp* simple = simplifier_->Top(made);
  if (is_new || simple != made) folded_.Insert(simple);
  return simple;
}

}  // namespace tg::devectorize
