#include "codegen/llvm/regions.h"

namespace tg::llvm_ir {
namespace {

// Nodes that are written where they are used, or once for the whole group.
bool IsFree(const UOp* u) {
  return u->op == Op::kConst || u->op == Op::kVConst || u->op == Op::kVar ||
         u->op == Op::kSpecial || u->dtype.is_memory() || u->dtype.is_void();
}

}  // namespace

Regions::Regions(const Kernel& kernel) {
  const auto& order = kernel.body.linear;
  for (const UOp* u : order) {
    if (IsLocalId(u) && IsConst(u->src(0))) items_ *= u->src(0)->word();
  }
  region_.assign(order.size(), 0);
  if (items_ == 1) return;
  FindRegions(order);
  if (count_ > 1) FindRetained(kernel);
}

void Regions::FindRegions(const std::vector<const UOp*>& order) {
  // The blocks that contain a barrier, by the position of their first statement, and for each
  // position that closes blocks, whether one of these contains one.
  std::vector<size_t> open;
  std::vector<bool> has_barrier(order.size(), false), closes_barrier(order.size(), false);
  for (size_t p = 0; p < order.size(); ++p) {
    const UOp* u = order[p];
    if (u->op == Op::kRange || u->op == Op::kIf) open.push_back(p);
    if (u->op == Op::kBarrier) {
      has_barrier[p] = true;
      for (const size_t block : open) has_barrier[block] = true;
    }
    const size_t closed = u->op == Op::kEnd ? u->num_srcs - 1u : u->op == Op::kEndIf ? 1u : 0u;
    for (size_t i = 0; i < closed && !open.empty(); ++i) {
      closes_barrier[p] = closes_barrier[p] || has_barrier[open.back()];
      open.pop_back();
    }
  }
  int region = 0;
  bool is_new = false;
  for (size_t p = 0; p < order.size(); ++p) {
    if (has_barrier[p] || closes_barrier[p]) {
      region_[p] = kOutside;
      is_new = true;
      continue;
    }
    if (is_new) ++region;
    is_new = false;
    region_[p] = region;
  }
  count_ = region + 1;
}

void Regions::FindRetained(const Kernel& kernel) {
  const auto& order = kernel.body.linear;
  constexpr int kUnknown = -2;
  std::vector<int> home(kernel.body.context->num_nodes(), kUnknown);
  retained_.assign(home.size(), false);
  std::vector<const UOp*> pending;
  for (size_t p = 0; p < order.size(); ++p) {
    const UOp* u = order[p];
    if (!IsFree(u)) home[u->id] = region_[p];
    // An address is computed where it is used, so its index is used there.
    pending.assign(u->srcs().begin(), u->srcs().end());
    if (u->dtype.is_memory()) pending.clear();
    while (!pending.empty()) {
      const UOp* s = pending.back();
      pending.pop_back();
      if (s->op == Op::kIndex) {
        pending.insert(pending.end(), s->srcs().begin(), s->srcs().end());
      } else if (!IsFree(s) && home[s->id] != region_[p] && home[s->id] != kOutside) {
        retained_[s->id] = true;
      }
    }
  }
}

}  // namespace tg::llvm_ir
