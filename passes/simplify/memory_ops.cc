#include "passes/simplify/memory_ops.h"

#include <algorithm>
#include <vector>

#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/build.h"

namespace tg::simplify {
namespace {

const UOp* AddressGate(const UOp* address) {
  return address->op == Op::kIndex && address->num_srcs == 3 ? address->src(2) : nullptr;
}

bool IsNoop(const UOp* u) { return u->op == Op::kNoop && u->num_srcs == 0 && u->dtype.is_void(); }

// The replacement of a store to `address` that changes nothing: a noop of the effects after which
// its memory is accessed. Null if the memory is an argument of the kernel, since the kernel's
// caller expects it to be written.
const UOp* WithoutStore(const UOp* address, rewrite::RuleContext& rc) {
  llvm::SmallVector<const UOp*, 8> tokens;
  const UOp* memory = address->src(0);
  for (; memory->op == Op::kAfter; memory = memory->src(0)) {
    for (const UOp* s : memory->srcs().subspan(1)) {
      if (s->dtype.is_void()) tokens.push_back(s);
    }
  }
  if (!ArgumentsOf(memory).empty()) return nullptr;
  return rc.ctx.Make(Op::kNoop, kVoid, UOpSpan(tokens.data(), tokens.size()));
}

// Whether `u` is computed from any of `leaves`.
bool DependsOn(const UOp* u, UOpSpan leaves) {
  NodeSet seen;
  std::vector<const UOp*> order;
  AppendPostOrder(UOpSpan(&u, 1), seen, order);
  return std::any_of(leaves.begin(), leaves.end(), [&](const UOp* l) { return seen.Contains(l); });
}

// Whether the address is under a gate that is never true.
bool NeverAccessed(const UOp* address) {
  const UOp* gate = AddressGate(address);
  return gate && rewrite::UniformBits(gate) == 0;
}

}  // namespace

const UOp* FoldAddress(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* gate = AddressGate(u);
  if (!gate || rewrite::UniformBits(gate) != 1) return nullptr;
  return rc.ctx.Make(Op::kIndex, u->dtype, {u->src(0), u->src(1)});
}

const UOp* FoldLoad(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* address = u->src(0);
  if (address->op != Op::kIndex || !u->dtype.is_value()) return nullptr;
  if (NeverAccessed(address)) {
    return u->num_srcs > 1 ? u->src(1) : rewrite::UniformConst(rc.ctx, u->dtype, 0);
  }
  if (u->num_srcs > 1 && !AddressGate(address)) {
    return rc.ctx.Make(Op::kLoad, u->dtype, {address}, u->attr);
  }
  return nullptr;
}

const UOp* FoldStore(const UOp* u, rewrite::RuleContext& rc) {
  const UOp *address = u->src(0), *value = u->src(1);
  if (address->op != Op::kIndex) return nullptr;
  if (NeverAccessed(address)) return WithoutStore(address, rc);
  const auto is_old = [&](const UOp* v) {
    return v->op == Op::kLoad && v->src(0) == address && v->attr == u->attr;
  };
  if (is_old(value)) return WithoutStore(address, rc);
  // An address of one lane has one gate, even if the store is of several consecutive elements.
  if (value->op != Op::kWhere || value->src(0)->dtype.lanes() != address->dtype.lanes()) {
    return nullptr;
  }
  const bool keeps_else = is_old(value->src(2));
  if (!keeps_else && !is_old(value->src(1))) return nullptr;
  const UOp* gate = value->src(0);
  if (!keeps_else) {
    gate =
        rc.ctx.Make(Op::kCmpNe, gate->dtype, {gate, rewrite::UniformConst(rc.ctx, gate->dtype, 1)});
  }
  if (const UOp* outer = AddressGate(address))
    gate = rc.ctx.Make(Op::kAnd, gate->dtype, {outer, gate});
  const UOp* gated =
      rc.ctx.Make(Op::kIndex, address->dtype, {address->src(0), address->src(1), gate});
  return rc.ctx.Make(Op::kStore, kVoid, {gated, value->src(keeps_else ? 1 : 2)}, u->attr);
}

const UOp* FoldWhereOfLoad(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* load = u->src(1);
  if (load->op != Op::kLoad || AddressGate(load->src(0)) != u->src(0)) return nullptr;
  return rc.ctx.Make(Op::kLoad, u->dtype, {load->src(0), u->src(2)}, load->attr);
}

const UOp* DropNoops(const UOp* u, rewrite::RuleContext& rc) {
  // The list of a sink's targets is parallel to its sources, so none of these may be removed.
  if (u->op == Op::kSink && u->attr.bits && !u->list().empty()) return nullptr;
  if (u->op == Op::kEnd) {
    // If the loop's body has no effect left, only the effects before the loop remain.
    const UOp* effect = u->src(0);
    const bool joins = effect->op == Op::kNoop && effect->dtype.is_void();
    return joins && !DependsOn(effect, u->srcs().subspan(1)) ? effect : nullptr;
  }
  if (u->op == Op::kNoop && !u->dtype.is_void()) {
    return u->num_srcs == 1 && u->src(0)->dtype == u->dtype ? u->src(0) : nullptr;
  }
  llvm::SmallVector<const UOp*, 8> remaining;
  for (const UOp* s : u->srcs()) {
    if (!IsNoop(s)) remaining.push_back(s);
  }
  if (u->op == Op::kAfter && remaining.size() == 1) return remaining[0];
  if (remaining.size() == u->num_srcs) return nullptr;
  return rc.ctx.Make(u->op, u->dtype, UOpSpan(remaining.data(), remaining.size()), u->attr);
}

}  // namespace tg::simplify
