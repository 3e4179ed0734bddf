// What a graph assumes of the module's variables, where extents that differ as expressions meet.
#ifndef TG_PASSES_KERNELIZE_REQUIREMENTS_H_
#define TG_PASSES_KERNELIZE_REQUIREMENTS_H_

#include "ir/module.h"
#include "ir/shape.h"

namespace tg {

// Adds the requirements (ir/module.h) of a tensor graph to the module, each once. Kernels have no
// shapes that a run could compare, so that this is done before they are made. What holds for all
// values of the variables is no requirement. `order`: the nodes of the graph, sources first.
void AddRequirements(Module& module, const Body& body, ShapeMap& shapes, UOpSpan order);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_REQUIREMENTS_H_
