// Tensor graphs into graph @main of a module.
#ifndef TG_FRONTEND_TINYGRAD_GRAPH_IMPORT_H_
#define TG_FRONTEND_TINYGRAD_GRAPH_IMPORT_H_

#include <span>

#include "frontend/tinygrad/directives.h"
#include "frontend/tinygrad/kernel_import.h"
#include "frontend/tinygrad/syntax.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

// `roots`: a SINK, or values that become outputs. Declares buffers and variables in `module` and
// adds the graph. `kernels`: what its KERNELs run, in their order. False after an error.
bool ImportGraph(const Text& text, std::span<const Node* const> roots, const Directives& directives,
                 std::span<const KernelUse> kernels, Module& module, Diagnostics& diags);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_GRAPH_IMPORT_H_
