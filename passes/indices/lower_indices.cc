#include "passes/indices/lower_indices.h"

#include <algorithm>

#include "passes/directives/directives.h"
#include "passes/indices/index_lowering.h"

namespace tg::indices {
namespace {

// Makes the kernel's loop nest and coordinates, and calls `use` with an IndexLowering over them,
// and with a function that lowers the kernel again, clamped. New nodes are created in the context
// of the kernel's body.
using LowerAgain = llvm::function_ref<absl::StatusOr<const UOp*>()>;
absl::Status WithIndices(
    const Module& module, const KernelCalls& calls, Kernel& kernel, const passes::Target& target,
    simplify::Simplifier& simplifier,
    llvm::function_ref<absl::Status(IndexLowering&, const loop_nest::LoopNest&, LowerAgain)> use) {
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
  return use(indices, *nest, [&]() {
    return IndexLowering(module, body, *nest, *where, shapes, target, simplify)
        .Run(/*clamped=*/true);
  });
}

// The number of quotients and remainders by what is no constant.
size_t SymbolicDivisions(const UOp* root) {
  const std::vector<const UOp*> nodes = PostOrder(root);
  return static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), [](const UOp* u) {
    return (u->op == Op::kFloorDiv || u->op == Op::kFloorMod) && u->dtype.is_index() &&
           !IsConst(u->src(1));
  }));
}

}  // namespace

absl::Status LowerIndices(const Module& module, const KernelCalls& calls, Kernel& kernel,
                          const passes::Target& target, simplify::Simplifier& simplifier) {
  return WithIndices(
      module, calls, kernel, target, simplifier,
      [&](IndexLowering& indices, const loop_nest::LoopNest& nest, LowerAgain again) {
        absl::StatusOr<const UOp*> sink = indices.Run();
        if (!sink.ok()) return sink.status();
        const size_t divisions = SymbolicDivisions(*sink);
        // A clamp costs an instruction for each address, a division many.
        if (divisions > 0 && indices.CanClamp()) {
          const absl::StatusOr<const UOp*> clamped = again();
          if (clamped.ok() && SymbolicDivisions(*clamped) < divisions) sink = clamped;
        }
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
              [&](IndexLowering& indices, const loop_nest::LoopNest&, LowerAgain) {
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
