#include "passes/schedule/contraction.h"

#include <vector>

#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {
namespace {

// Whether the value is computed from memory by elementwise and movement ops alone.
bool IsReadDirectly(const UOp* value) {
  bool loads = false;
  for (const UOp* u : PostOrder(value)) {
    if (u->op == Op::kReduceAxis || u->op == Op::kStaged || u->op == Op::kPacked) return false;
    loads |= u->op == Op::kLoad;
  }
  return loads;
}

const UOp* BelowMovement(const UOp* u) {
  while (IsMovement(u->op)) u = u->src(0);
  return u;
}

}  // namespace

std::optional<Contraction> FindContraction(const Kernel& kernel) {
  if (kernel.body.root->num_srcs != 1) return std::nullopt;
  Contraction found;
  for (const UOp* u : kernel.body.Order()) {
    if (u->op == Op::kStaged || u->op == Op::kPacked) return std::nullopt;
    if (u->op != Op::kReduceAxis) continue;
    if (found.reduce || static_cast<Op>(u->word()) != Op::kAdd) return std::nullopt;
    found.reduce = u;
  }
  if (!found.reduce) return std::nullopt;
  const UOp* terms = found.reduce->src(0);
  while (IsMovement(terms->op) || terms->op == Op::kCast) terms = terms->src(0);
  if (terms->op != Op::kMul) return std::nullopt;
  found.product = terms;
  const UOp *a = BelowMovement(terms->src(0)), *b = BelowMovement(terms->src(1));
  if (a == b || !IsReadDirectly(a) || !IsReadDirectly(b)) return std::nullopt;
  return found;
}

const UOp* WithPackedOperands(Kernel& kernel, const Contraction& contraction,
                              const UOp* (&operands)[2]) {
  Body& body = kernel.body;
  Context& ctx = *body.context;
  const auto packed = [&](const UOp* source, const UOp*& operand) {
    std::vector<const UOp*> moves;  // the outermost first
    for (; IsMovement(source->op); source = source->src(0)) moves.push_back(source);
    operand = ctx.Make(Op::kPacked, source->dtype, UOpSpan(&source, 1));
    const UOp* value = operand;
    std::vector<const UOp*> srcs;
    for (const UOp* move : llvm::reverse(moves)) {
      srcs.assign(move->srcs().begin(), move->srcs().end());
      srcs[0] = value;
      value = ctx.Rebuild(move, ctx, UOpSpan(srcs.data(), srcs.size()));
    }
    return value;
  };
  const UOp* product = contraction.product;
  const UOp* const factors[] = {packed(product->src(0), operands[0]),
                                packed(product->src(1), operands[1])};
  NodeMap<const UOp*> map;
  std::vector<const UOp*> srcs;
  for (const UOp* u : body.Order()) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const bool is_product = u == product;
    map[u] = ctx.Rebuild(u, ctx, is_product ? UOpSpan(factors) : UOpSpan(srcs.data(), srcs.size()));
    body.CarryOver(u, map[u]);
  }
  return map.Get(body.root);
}

}  // namespace tg
