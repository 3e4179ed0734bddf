// Finds conditions on the module's variables: extents that must be equal although they are
// different expressions.
#ifndef TG_PASSES_KERNELIZE_REQUIREMENTS_H_
#define TG_PASSES_KERNELIZE_REQUIREMENTS_H_

#include "ir/module.h"
#include "ir/shape.h"

namespace tg::kernelize {

// Adds the requirements (ir/module.h) of a tensor graph to the module, without duplicates. Must run
// before kernels are made, because kernels have no shapes that a run could compare. A condition
// that holds for all values of the variables is omitted. `order`: the nodes of the graph, sources
// first.
void AddRequirements(Module& module, const Body& body, ShapeMap& shapes, UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_REQUIREMENTS_H_
