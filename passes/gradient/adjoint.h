// Adjoints of ops that are no patterns: from the gradient of a node to that of its source.
#ifndef TG_PASSES_GRADIENT_ADJOINT_H_
#define TG_PASSES_GRADIENT_ADJOINT_H_

#include <cstddef>
#include <string>

#include "ir/builder.h"
#include "ir/devices.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "ir/uop.h"

namespace tg::gradient {

// The graph that gradients are added to.
struct GradientGraph {
  GradientGraph(const Module& module, Body& of)
      : body(of), b(*of.context), shapes(module, *of.context), devices(module, *of.context) {}

  // Records why a node has no derivative; returns null.
  const UOp* Refuse(std::string why) {
    if (refusal.empty()) refusal = std::move(why);
    return nullptr;
  }

  Body& body;
  Builder b;
  ShapeMap shapes;
  DeviceMap devices;
  std::string refusal;
};

// The gradient of source number `source` of `u`, where `dy`, which has the shape of `u`, is that of
// `u`. Null: it is 0, or there was a refusal.
using DerivativeFn = const UOp* (*)(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);

// The source's gradient is the node's.
const UOp* Passed(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);
// The source has no influence.
const UOp* Zero(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);
const UOp* OfCast(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);
const UOp* Stored(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);
const UOp* OfCopy(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);
const UOp* OfBufferView(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);
const UOp* OfAssign(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);
const UOp* OfAfter(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);
const UOp* OfMovement(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);
const UOp* OfReduce(GradientGraph& g, const UOp* u, const UOp* dy, size_t source);

// The adjoint of a `view` of constant extents (view_adjoint.cc).
const UOp* OfView(GradientGraph& g, const UOp* u, const UOp* dy);

}  // namespace tg::gradient

#endif  // TG_PASSES_GRADIENT_ADJOINT_H_
