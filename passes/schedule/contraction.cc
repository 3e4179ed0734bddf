#include "passes/schedule/contraction.h"

#include <optional>
#include <vector>

#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::schedule {
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

// Whether the op only moves elements, or converts what a matrix instruction takes, in which case
// its source is smaller.
bool Passes(const UOp* u, const std::optional<MatrixInstruction>& instruction) {
  if (IsMovement(u->op)) return true;
  if (!instruction || u->op != Op::kCast) return false;
  const Scalar from = u->src(0)->dtype.scalar();
  return u->dtype.scalar() == instruction->accumulator &&
         (from == instruction->a || from == instruction->b);
}

// Whether the op multiplies the terms of a contraction: a product, or dot4 without a sum, of which
// a term is four products of bytes.
bool IsProduct(const UOp* u) {
  return u->op == Op::kMul || (u->op == Op::kDot4 && IsConst(u->src(2)) && u->src(2)->word() == 0);
}

const UOp* BelowMovement(const UOp* u) {
  while (IsMovement(u->op)) u = u->src(0);
  return u;
}

}  // namespace

std::vector<Contraction> FindContractions(const Kernel& kernel) {
  std::vector<Contraction> out;
  for (const UOp* u : kernel.body.Order()) {
    if (u->op == Op::kStaged || u->op == Op::kPacked || u->op == Op::kReduceTuple) return {};
    if (u->op != Op::kReduceAxis) continue;
    if (static_cast<Op>(u->word()) != Op::kAdd) return {};
    const UOp* terms = u->src(0);
    while (IsMovement(terms->op) || terms->op == Op::kCast) terms = terms->src(0);
    if (!IsProduct(terms)) return {};
    const UOp *a = BelowMovement(terms->src(0)), *b = BelowMovement(terms->src(1));
    if (a == b || !IsReadDirectly(a) || !IsReadDirectly(b)) return {};
    out.push_back({u, terms});
  }
  return out;
}

OperandAxes AxesOfOperands(const loop_nest::LoopNest& nest, const Contraction& contraction) {
  OperandAxes out;
  for (size_t n = 0; n < nest.packed.size(); ++n) {
    for (size_t k = 0; k < 2; ++k) {
      if (nest.packed[n].node != contraction.operands[k]) continue;
      out.varies[k] |= nest.packed[n].varies;
      out.packed[k] = n;
    }
  }
  return out;
}

OperandAxes::Role OperandAxes::RoleOf(const loop_nest::LoopNest& nest, size_t base) const {
  if (nest.base[base].reduce) return Role::kTerm;
  const std::array<bool, 2> in = Vary(base);
  if (!nest.base[base].IsStored() || in[0] == in[1]) return Role::kBatch;
  return in[0] ? Role::kFirst : Role::kSecond;
}

const UOp* WithPackedOperands(Kernel& kernel, std::vector<Contraction>& contractions,
                              const std::optional<MatrixInstruction>& instruction) {
  Body& body = kernel.body;
  Context& ctx = *body.context;
  NodeMap<const UOp*> lowest;  // of each operand: the movement op next to it
  const auto packed = [&](const UOp* source, const UOp* mapped, const UOp*& operand) {
    std::vector<const UOp*> moves;  // the outermost first
    for (; Passes(source, instruction); source = source->src(0)) moves.push_back(source);
    if (source->op == Op::kStaged) return mapped;
    operand = ctx.Make(Op::kPacked, source->dtype, UOpSpan(&source, 1));
    // Matrix instructions copy what a factor reads. Different parts of one value, as of a cache of
    // keys and values, are copied separately.
    const UOp* part = instruction && !moves.empty() ? moves.back() : nullptr;
    const UOp*& known = lowest[operand];
    if (part && known && part != known && part->op == Op::kShrink) {
      moves.pop_back();
      operand = ctx.Make(Op::kPacked, part->dtype, UOpSpan(&part, 1));
    } else {
      known = part;
    }
    const UOp* value = operand;
    std::vector<const UOp*> srcs;
    for (const UOp* move : llvm::reverse(moves)) {
      srcs.assign(move->srcs().begin(), move->srcs().end());
      srcs[0] = value;
      value = ctx.Rebuild(move, ctx, UOpSpan(srcs.data(), srcs.size()));
    }
    return value;
  };
  NodeMap<const UOp*> map;
  std::vector<const UOp*> srcs;
  for (const UOp* u : body.Order()) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    for (Contraction& c : contractions) {
      if (u != c.product) continue;
      for (size_t k = 0; k < 2; ++k) srcs[k] = packed(u->src(k), srcs[k], c.operands[k]);
    }
    map[u] = ctx.Rebuild(u, ctx, UOpSpan(srcs.data(), srcs.size()));
    body.CarryOver(u, map[u]);
  }
  for (Contraction& c : contractions) c.reduce = map.Get(c.reduce);
  return map.Get(body.root);
}

}  // namespace tg::schedule
