// Imports tensor graphs as graph @main of a module.
#ifndef TG_FRONTEND_TINYGRAD_GRAPH_IMPORT_H_
#define TG_FRONTEND_TINYGRAD_GRAPH_IMPORT_H_

#include <span>

#include "frontend/tinygrad/directives.h"
#include "frontend/tinygrad/kernel_import.h"
#include "frontend/tinygrad/syntax.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

// Declares buffers and variables in `module` and adds the graph. `roots`: a SINK, or values that
// become outputs. `kernels`: what the graph's KERNELs run, in the order of the text. Returns false
// after an error.
bool ImportGraph(const Text& text, std::span<const Node* const> roots, const Directives& directives,
                 std::span<const KernelUse> kernels, Module& module, Diagnostics& diags);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_GRAPH_IMPORT_H_
