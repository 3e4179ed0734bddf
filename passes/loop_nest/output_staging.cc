#include "passes/loop_nest/output_staging.h"

#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::loop_nest {
namespace {

// Collects the values that a stored result reads. `in_place`: values that each result reads at its
// own index. `moved`: values that results may read at other indices, through movement ops, without
// a reduce in between. A value may be in both sets.
void FindReadInPlace(const UOp* stored, NodeSet& in_place, NodeSet& moved) {
  std::vector<const UOp*> stack = {stored}, views;
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (!in_place.Insert(u)) continue;
    if (IsMovement(u->op)) views.push_back(u->src(0));
    if (!IsElementwise(u->op) || u->op == Op::kStaged || u->op == Op::kPacked) continue;
    stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
  }
  while (!views.empty()) {
    const UOp* u = views.back();
    views.pop_back();
    if (!moved.Insert(u) || u->op == Op::kReduceAxis) continue;
    views.insert(views.end(), u->srcs().begin(), u->srcs().end());
  }
}

bool Contains(const UOp* u, const UOp* part) {
  return u != part && llvm::is_contained(PostOrder(u), part);
}

}  // namespace

std::vector<analysis::LoopSet> FindOutputStaging(const Kernel& kernel, const LoopNest& s) {
  std::vector<analysis::LoopSet> held(s.base.size(), 0);
  const auto is_staged = [](const analysis::BaseAxis& b) { return b.staged != nullptr; };
  if (kernel.body.root->num_srcs != 1 || llvm::none_of(s.base, is_staged)) return held;
  const UOp* store = kernel.body.root->src(0);
  NodeSet in_place, moved;
  FindReadInPlace(store->src(1), in_place, moved);
  const std::vector<const UOp*> order = kernel.body.Order();
  for (size_t n = 0; n < s.base.size(); ++n) {
    const UOp* staged = s.base[n].staged;
    if (!staged || !in_place.Contains(staged) || moved.Contains(staged)) continue;
    if (staged->dtype != store->src(1)->dtype ||
        staged->dtype.scalar() != store->src(0)->dtype.scalar()) {
      continue;
    }
    analysis::LoopSet along = 0;
    for (const analysis::BaseAxis& own : s.base) {
      if (own.staged != staged) continue;
      for (size_t i = 0; i < s.base.size(); ++i) {
        if (s.base[i].IsStored() && s.base[i].dim == own.dim) along |= analysis::LoopBit(i);
      }
    }
    // Whatever else reads it must have done so before the first result along these axes.
    bool done_before = true;
    for (const UOp* u : order) {
      // A predicate that depends on the result's index keeps a reduce in the loops over results.
      const bool is_read_later =
          u->op == Op::kStaged || u->op == Op::kPacked || u->op == Op::kPad || u->op == Op::kView;
      if (is_read_later && Contains(u, staged)) done_before = false;
    }
    for (size_t i = 0; i < s.base.size() && done_before; ++i) {
      const UOp* reduce = s.base[i].reduce;
      if (reduce && (s.varies[i] & along) != 0 && Contains(reduce, staged)) done_before = false;
    }
    if (done_before) held[n] = along;
  }
  return held;
}

}  // namespace tg::loop_nest
