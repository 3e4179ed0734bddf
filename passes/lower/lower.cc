#include "passes/lower/lower.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/directives/directives.h"
#include "passes/lower/body_lowering.h"
#include "passes/lower/reduce_lowering.h"
#include "passes/simplify/simplify.h"

namespace tg {
namespace {

absl::Status InKernel(const Kernel& kernel, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("lower: kernel @", kernel.name, ": ", status.message()));
}

// Calls `use` with all that it takes to lower the kernel's body, which nodes are made in.
absl::Status WithLowering(
    const Module& module, const KernelCalls& calls, Kernel& kernel, const Target& target,
    llvm::function_ref<absl::Status(BodyLowering&, const LoopNest&, Simplifier&)> use) {
  Body& body = kernel.body;
  Simplifier simplifier(*body.context, &module);
  const auto simplify = [&](const UOp* u) { return simplifier(u); };
  ShapeMap shapes(module, *body.context);
  const absl::StatusOr<LoopNest> nest = MakeLoopNest(module, calls, kernel, target, shapes);
  if (!nest.ok()) return nest.status();
  Builder b(*body.context);
  const absl::StatusOr<Coordinates> where = MakeCoordinates(b, *nest, target, simplify);
  if (!where.ok()) return where.status();
  BodyLowering lowering(module, body, *nest, *where, shapes, target, simplify);
  return use(lowering, *nest, simplifier);
}

}  // namespace

absl::Status LowerKernel(const Module& module, const KernelCalls& calls, Kernel& kernel,
                         const Target& target) {
  Body& body = kernel.body;
  if (kernel.stage == Stage::kLowered) {
    MakeReducesExplicit(body);
    Compact(body);
    return absl::OkStatus();
  }
  if (kernel.stage != Stage::kKernel) return absl::OkStatus();
  const absl::Status status =
      WithLowering(module, calls, kernel, target,
                   [&](BodyLowering& lowering, const LoopNest& nest, Simplifier& simplifier) {
                     absl::StatusOr<const UOp*> sink = lowering.Run();
                     if (!sink.ok()) return sink.status();
                     body.CarryOver(body.root, *sink);
                     body.root = *sink;
                     kernel.axes = nest.ToAxes();
                     // What was simplified on its own is known to be simple.
                     return RewriteBody(body, simplifier.rewriter());
                   });
  if (!status.ok()) return InKernel(kernel, status);
  kernel.stage = Stage::kLowered;
  Compact(body);
  body.num_simple = body.context->num_nodes();
  return absl::OkStatus();
}

NodeSet FoldedReduces(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                      const Target& target) {
  NodeSet out;
  Kernel copy;
  copy.name = kernel.name;
  CloneBody(kernel.body, copy.body);
  const std::vector<const UOp*> order = PostOrder(copy.body.root),
                                own = PostOrder(kernel.body.root);
  // A kernel that cannot be lowered has no reduce that folds; `lower` will say why.
  WithLowering(module, calls, copy, target,
               [&](BodyLowering& lowering, const LoopNest&, Simplifier&) {
                 const absl::Status status = lowering.Run().status();
                 if (!status.ok()) return status;
                 for (const UOp* reduce : lowering.FoldedReduces()) {
                   // A copy has its nodes in the same order.
                   const auto at = std::find(order.begin(), order.end(), reduce) - order.begin();
                   out.Insert(own[static_cast<size_t>(at)]);
                 }
                 return status;
               })
      .IgnoreError();
  return out;
}

namespace {

absl::Status Run(Module& module, PassContext& context) {
  const KernelCalls calls(module);
  return ForEachKernel(module, context, [&](Kernel& kernel, Statistics& statistics) {
    if (kernel.stage <= Stage::kLowered) ++statistics["lower.kernels"];
    return LowerKernel(module, calls, kernel, context.target);
  });
}

}  // namespace

constinit const Pass kLowerPass = {
    "lower",
    "gives every axis its loop, work-item id or lanes, and every access its address",
    {},
    Run};

}  // namespace tg
