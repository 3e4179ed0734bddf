#include "passes/schedule/kernel_facts.h"

#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "passes/cost/predict_cost.h"
#include "passes/directives/directives.h"
#include "passes/indices/lower_indices.h"
#include "passes/simplify/simplify.h"

namespace tg::schedule {
namespace {

Kernel CopyOf(const Kernel& kernel) {
  Kernel copy;
  copy.name = kernel.name;
  CloneBody(kernel.body, copy.body);
  return copy;
}

// Whether the body contains index arithmetic: an iota, or a pad of a constant. The triangle of ones
// whose sum is an arange is such a pad.
bool HasIndexArithmetic(const Body& body) {
  NodeSet constant;
  for (const UOp* u : body.Order()) {
    if (u->op == Op::kIota) return true;
    const bool is_constant = IsConst(u) || (IsMovement(u->op) && constant.Contains(u->src(0)));
    if (is_constant && u->op == Op::kPad) return true;
    if (is_constant) constant.Insert(u);
  }
  return false;
}

}  // namespace

KernelFacts::KernelFacts(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                         const passes::Target& target)
    : module_(module),
      calls_(calls),
      target_(target),
      copy_(CopyOf(kernel)),
      shapes_(module, *copy_.body.context),
      plain_(loop_nest::PlainLoopNest(module, calls, copy_, shapes_)) {}

absl::StatusOr<loop_nest::LoopNest> KernelFacts::NestOf(std::vector<Directive> directives) {
  copy_.directives = std::move(directives);
  return directive::MakeLoopNest(module_, calls_, copy_, target_, shapes_);
}

std::vector<analysis::Access> KernelFacts::Find(bool with_staged) {
  simplify::Simplifier simplifier(*copy_.body.context, &module_);
  return analysis::FindAccesses(
      copy_.body, plain_.base, shapes_, [&](const UOp* u) { return simplifier(u); }, with_staged);
}

const std::vector<analysis::Access>& KernelFacts::accesses() {
  if (!accesses_) accesses_ = Find(/*with_staged=*/false);
  return *accesses_;
}

const std::vector<analysis::Access>& KernelFacts::accesses_and_staged() {
  const auto is_staged = [](const analysis::BaseAxis& base) { return base.staged != nullptr; };
  if (llvm::none_of(plain_.base, is_staged)) return accesses();
  if (!accesses_and_staged_) accesses_and_staged_ = Find(/*with_staged=*/true);
  return *accesses_and_staged_;
}

const NodeSet& KernelFacts::closed() {
  if (closed_) return *closed_;
  const std::vector<Directive> directives = std::exchange(copy_.directives, {});
  // Only reduces of index arithmetic can be replaced by an expression without a loop. Finding them
  // costs a lowering of the kernel, so it is not done for other kernels.
  closed_ = HasIndexArithmetic(copy_.body) ? indices::FoldedReduces(module_, calls_, copy_, target_)
                                           : NodeSet();
  copy_.directives = directives;
  return *closed_;
}

bool KernelFacts::HasClosed() {
  return llvm::any_of(plain_.base, [&](const analysis::BaseAxis& base) {
    return base.reduce && closed().Contains(base.reduce);
  });
}

bool KernelFacts::CombinesTuples() const {
  return llvm::any_of(plain_.base, [](const analysis::BaseAxis& base) {
    return base.reduce && base.reduce->op == Op::kReduceTuple;
  });
}

cost::Cost KernelFacts::CostOf(const loop_nest::LoopNest& nest) {
  return cost::PredictCost(cost::WorkOf(copy_.body, nest, accesses_and_staged(), target_, closed()),
                           target_);
}

absl::StatusOr<cost::Cost> KernelFacts::CostOf(std::vector<Directive> directives) {
  const absl::StatusOr<loop_nest::LoopNest> nest = NestOf(std::move(directives));
  if (!nest.ok()) return nest.status();
  return CostOf(*nest);
}

absl::StatusOr<cost::Cost> KernelCost(const Module& module, const KernelCalls& calls,
                                      const Kernel& kernel, const passes::Target& target) {
  return KernelFacts(module, calls, kernel, target).CostOf(kernel.directives);
}

}  // namespace tg::schedule
