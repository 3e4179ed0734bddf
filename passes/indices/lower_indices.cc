#include "passes/indices/lower_indices.h"

#include <algorithm>

#include "passes/directives/directives.h"
#include "passes/indices/index_lowering.h"

namespace tg::indices {
namespace {

// Makes the kernel's loop nest and coordinates, and calls `use` with an IndexLowering over them.
// New nodes are created in the context of the kernel's body.
absl::Status WithIndices(
    const Module& module, const KernelCalls& calls, Kernel& kernel, const passes::Target& target,
    simplify::Simplifier& simplifier,
    llvm::function_ref<absl::Status(IndexLowering&, const loop_nest::LoopNest&)> use) {
  Body& body = kernel.body;
  const auto simplify = [&](const UOp* u) { return simplifier(u); };
  ShapeMap shapes(module, *body.context);
  const absl::StatusOr<loop_nest::LoopNest> nest =
      directive::MakeLoopNest(module, calls, kernel, target, shapes);
  if (!nest.ok()) return nest.status();
  Builder b(*body.context);
  const absl::StatusOr<Coordinates> where = AssignLoops(b, *nest, target, simplify);
  if (!where.ok()) return where.status();
  IndexLowering indices(module, body, *nest, *where, shapes, target, simplify);
  return use(indices, *nest);
}

}  // namespace

absl::Status LowerIndices(const Module& module, const KernelCalls& calls, Kernel& kernel,
                          const passes::Target& target, simplify::Simplifier& simplifier) {
  return WithIndices(module, calls, kernel, target, simplifier,
                     [&](IndexLowering& indices, const loop_nest::LoopNest& nest) {
                       const absl::StatusOr<const UOp*> sink = indices.Run();
                       if (!sink.ok()) return sink.status();
                       kernel.body.CarryOver(kernel.body.root, *sink);
                       kernel.body.root = *sink;
                       kernel.axes = nest.ToAxes();
                       return absl::OkStatus();
                     });
}

NodeSet FoldedReduces(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                      const passes::Target& target) {
  NodeSet out;
  Kernel copy;
  copy.name = kernel.name;
  CloneBody(kernel.body, copy.body);
  const std::vector<const UOp*> order = PostOrder(copy.body.root),
                                own = PostOrder(kernel.body.root);
  simplify::Simplifier simplifier(*copy.body.context, &module);
  // A kernel that cannot be lowered has no reduce that folds; `lower` will say why.
  WithIndices(module, calls, copy, target, simplifier,
              [&](IndexLowering& indices, const loop_nest::LoopNest&) {
                const absl::Status status = indices.Run().status();
                if (!status.ok()) return status;
                for (const UOp* reduce : indices.FoldedReduces()) {
                  // A copy has its nodes in the same order.
                  const auto at = std::find(order.begin(), order.end(), reduce) - order.begin();
                  out.Insert(own[static_cast<size_t>(at)]);
                }
                return status;
              })
      .IgnoreError();
  return out;
}

}  // namespace tg::indices
