// Constant folding in a tensor graph. A tensor whose elements all equal one constant is a scalar
// for the ops that use it, and ops on such tensors are folded. So a value that is a constant after
// all (x * 0 if the module permits it, a softmax over one element) and its sources disappear before
// kernels are planned.
#ifndef TG_PASSES_KERNELIZE_UNIFORM_H_
#define TG_PASSES_KERNELIZE_UNIFORM_H_

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/analysis/bounds.h"
#include "passes/analysis/order.h"
#include "passes/rewrite/rule_context.h"

namespace tg::kernelize {

class Uniforms {
 public:
  // `ctx`: the graph's context.
  Uniforms(const Module& module, Context& ctx, ShapeMap& shapes);

  // Elementwise `u` with its sources replaced by `srcs` of the same shapes, and simplified by the
  // rules for floats, which may turn it into a constant of shape [] or widen a product.
  const UOp* Elementwise(const UOp* u, UOpSpan srcs);

  // Records what is known about `u`. Its sources must have been recorded before.
  void Note(const UOp* u);

 private:
  Context& ctx_;
  ShapeMap& shapes_;
  analysis::Bounds bounds_;
  analysis::StructuralOrder order_;
  rewrite::RuleContext rules_;
  NodeMap<const UOp*> constant_;  // the constant that every element equals; null: not known
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_UNIFORM_H_
