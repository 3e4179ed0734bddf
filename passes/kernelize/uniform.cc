#include "passes/kernelize/uniform.h"

#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "passes/simplify/fold.h"
#include "passes/simplify/rule_lists.h"

namespace tg::kernelize {
namespace {

const rewrite::RuleSet& Rules() {
  static const rewrite::RuleSet kRules({&simplify::FloatRules(), &simplify::WidthRules()});
  return kRules;
}

// Whether every element of the result is an element of source 0.
bool OnlyMoves(const UOp* u) {
  return IsMovement(u->op) && u->op != Op::kPad && u->op != Op::kView;
}

}  // namespace

Uniforms::Uniforms(const Module& module, Context& ctx, ShapeMap& shapes)
    : ctx_(ctx),
      shapes_(shapes),
      bounds_(ctx, &module),
      order_(ctx),
      rules_{ctx, bounds_, order_, module.flags} {}

void Uniforms::Note(const UOp* u) {
  if (u->op == Op::kConst) {
    constant_[u] = u;
  } else if (OnlyMoves(u)) {
    if (const UOp* c = constant_.Get(u->src(0))) constant_[u] = c;
  }
}

const UOp* Uniforms::Elementwise(const UOp* u, UOpSpan srcs) {
  const Shape& want = shapes_.Of(u);
  llvm::SmallVector<const UOp*, 4> scalars(srcs.begin(), srcs.end());
  bool all_constant = true, has_shape = want.empty();
  for (const UOp*& s : scalars) {
    if (const UOp* c = constant_.Get(s)) {
      s = c;
    } else {
      all_constant = false;
      has_shape |= !shapes_.Of(s).empty();
    }
  }
  // Otherwise the result would lose its shape: only the constants had one.
  if (!all_constant && !has_shape) return ctx_.Rebuild(u, ctx_, srcs);
  // Puts the constant where the rules expect it.
  const bool commutes = u->op == Op::kAdd || u->op == Op::kMul;
  if (commutes && IsConst(scalars[0])) std::swap(scalars[0], scalars[1]);
  const UOp* v = ctx_.Rebuild(u, ctx_, {scalars.data(), scalars.size()});
  if (all_constant) {
    const UOp* folded = simplify::FoldConstants(v, rules_);
    return folded && IsConst(folded) ? folded : ctx_.Rebuild(u, ctx_, srcs);
  }
  uint32_t rule = 0;
  while (IsElementwise(v->op)) {
    const UOp* simpler = Rules().Apply(v, rules_, &rule);
    if (!simpler || (!IsConst(simpler) && shapes_.Of(simpler) != want)) break;
    v = simpler;
  }
  return v;
}

}  // namespace tg::kernelize
