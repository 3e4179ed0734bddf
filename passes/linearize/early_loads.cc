#include "passes/linearize/early_loads.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::linearize {
namespace {

bool Requires(const UOp* gate, const UOp* part) {
  if (gate == part) return true;
  return gate->op == Op::kAnd &&
         llvm::any_of(gate->srcs(), [&](const UOp* s) { return Requires(s, part); });
}

}  // namespace

absl::StatusOr<bool> GuardEarlyLoads(const Nest& nest, Body& body) {
  Builder b(*body.context);
  std::vector<const UOp*> gates(nest.nodes.size(), nullptr);  // by position of the load
  for (const EarlyLoad& early : nest.early) {
    const UOp* load = nest.nodes[early.position];
    const UOp* size = nest.loops[early.loop].range->src(0);
    const UOp* runs = b.Lt(b.ConstInt(size->dtype, 0), size);
    const UOp* address = load->src(0);
    if (address->op == Op::kIndex && address->num_srcs > 2 && Requires(address->src(2), runs)) {
      continue;
    }
    const int at = nest.block[early.position], known = nest.block[nest.at(size)];
    if (address->op != Op::kIndex || nest.Common(at, known) != known) {
      return absl::InvalidArgumentError(
          absl::StrCat("range #", nest.loops[early.loop].range->word(),
                       " may have no iterations and overwrites what a load before it reads"));
    }
    const UOp*& gate = gates[early.position];
    gate = gate ? b.And(gate, runs) : runs;
  }
  if (llvm::none_of(gates, [](const UOp* gate) { return gate != nullptr; })) return false;
  std::vector<const UOp*> made(nest.nodes.size(), nullptr);  // by position
  llvm::SmallVector<const UOp*, 8> srcs;
  for (size_t p = 0; p < nest.nodes.size(); ++p) {
    const UOp* u = nest.nodes[p];
    srcs.clear();
    for (int s : nest.sources(p)) srcs.push_back(made[s]);
    if (const UOp* gate = gates[p]) {
      const UOp* address = srcs[0];
      if (address->num_srcs > 2)
        gate = b.And(address->src(2), b.Splat(gate, address->src(2)->dtype.lanes()));
      srcs[0] = b.IndexPtr(address->src(0), address->src(1), gate);
      if (srcs.size() < 2) srcs.push_back(b.ConstBits(u->dtype, 0));
    }
    const bool same = srcs.size() == u->num_srcs && llvm::equal(srcs, u->srcs());
    made[p] =
        same ? u : body.context->Make(u->op, u->dtype, UOpSpan(srcs.data(), srcs.size()), u->attr);
    body.CarryOver(u, made[p]);
  }
  body.root = made.back();
  return true;
}

}  // namespace tg::linearize
