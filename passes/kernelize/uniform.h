// Constants in a tensor graph: a tensor whose elements are all one constant is a scalar to the ops
// that use it, and ops of such are computed. Values that come to nothing (x * 0 where the module
// says so, a softmax over one element) take what they were made of along before kernels are
// planned.
#ifndef TG_PASSES_KERNELIZE_UNIFORM_H_
#define TG_PASSES_KERNELIZE_UNIFORM_H_

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/analysis/bounds.h"
#include "passes/analysis/order.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

class Uniforms {
 public:
  // `ctx`: the graph's context.
  Uniforms(const Module& module, Context& ctx, ShapeMap& shapes);

  // Elementwise `u` with its sources replaced by `srcs` of the same shapes, and simplified by the
  // rules for floats, which may turn it into a constant of shape [].
  const UOp* Elementwise(const UOp* u, UOpSpan srcs);

  // Notes what is known of `u`, whose sources have been noted.
  void Note(const UOp* u);

 private:
  Context& ctx_;
  ShapeMap& shapes_;
  Bounds bounds_;
  StructuralOrder order_;
  RuleContext rules_;
  NodeMap<const UOp*> constant_;  // that every element is; null: not known to be one
};

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_UNIFORM_H_
