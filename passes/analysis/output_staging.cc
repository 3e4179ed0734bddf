// Staged values that are kept in what the kernel stores: which values may be, and the directive.
#include "passes/analysis/output_staging.h"

#include "absl/strings/str_cat.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/directive_applier.h"

namespace tg {
namespace {

// `in_place`: the values of which each element is needed for the result at the same place; `moved`:
// what results need from other places, reduces aside.
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

std::vector<LoopSet> FindOutputStaging(const Kernel& kernel, const Schedule& s) {
  std::vector<LoopSet> held(s.base.size(), 0);
  const auto is_staged = [](const BaseAxis& b) { return b.staged != nullptr; };
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
    LoopSet along = 0;
    for (const BaseAxis& own : s.base) {
      if (own.staged != staged) continue;
      for (size_t i = 0; i < s.base.size(); ++i) {
        if (s.base[i].IsStored() && s.base[i].dim == own.dim) along |= LoopBit(i);
      }
    }
    // Whatever else reads it must have done so before the first result along these axes.
    bool done_before = true;
    for (const UOp* u : order) {
      if ((u->op == Op::kStaged || u->op == Op::kPacked) && Contains(u, staged))
        done_before = false;
    }
    for (size_t i = 0; i < s.base.size() && done_before; ++i) {
      const UOp* reduce = s.base[i].reduce;
      if (reduce && (s.varies[i] & along) != 0 && Contains(reduce, staged)) done_before = false;
    }
    if (done_before) held[n] = along;
  }
  return held;
}

absl::Status DirectiveApplier::StageInOutput() {
  if (directive_.args.size() != 1) return IllegalDirective(directive_, "takes an axis");
  size_t axis = 0;
  if (absl::Status s = FindAxis(directive_.args[0], axis); !s.ok()) return s;
  const size_t base = s_.axes[axis].base;
  if (!s_.base[base].staged) {
    return IllegalDirective(
        directive_, absl::StrCat("axis ", s_.axes[axis].name, " is none of a staged value"));
  }
  if (s_.held_by_output[base] == 0) {
    return IllegalDirective(directive_,
                            "its elements are not each read for the result at the same place, in "
                            "the type of the results, after all other reads");
  }
  if (s_.in_output) return IllegalDirective(directive_, "another staged value is in the output");
  if (s_.IsInPlace())
    return IllegalDirective(directive_, "the kernel reads an argument that it writes");
  s_.in_output = base;
  return absl::OkStatus();
}

absl::Status DirectiveApplier::CheckOutputStaging() {
  if (!s_.in_output) return absl::OkStatus();
  const LoopSet along = s_.held_by_output[*s_.in_output];
  const auto illegal = [&](absl::string_view why) {
    return IllegalDirective(
        directive_, absl::StrCat(s_.base[*s_.in_output].name, " is staged in the output: ", why));
  };
  if (llvm::is_contained(s_.padded, true)) return illegal("no axis may be padded");
  if (s_.GroupSize() > 1) return illegal("work-items of a group would share it");
  bool inside = false;
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    const ScheduledAxis& a = s_.axes[i];
    const bool own = (along & LoopBit(a.base)) != 0;
    if (own && a.kind == AxisKind::kGlobal)
      return illegal(absl::StrCat("axis ", a.name, " must be a loop"));
    if (a.kind != AxisKind::kLoop) continue;
    if (s_.IsReduceLoop(i)) return illegal("no loop may be around results");
    // It would be computed again, over results.
    if (inside && !own) return illegal(absl::StrCat("loop ", a.name, " is inside of its loops"));
    inside |= own;
  }
  return absl::OkStatus();
}

}  // namespace tg
