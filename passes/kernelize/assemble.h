// Assembles the graph over buffers: kernel calls, and assigns of the stored values.
#ifndef TG_PASSES_KERNELIZE_ASSEMBLE_H_
#define TG_PASSES_KERNELIZE_ASSEMBLE_H_

#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/kernelize/hazards.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/kernel_pool.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/placement.h"
#include "passes/pass.h"

namespace tg {

// Rewrites `graph` to an assign for each value that a draft stores, in the given order. Kernels go
// to `pool`, temporary buffers to the module.
void Assemble(Module& module, Graph& graph, ShapeMap& shapes, const MaterializationPlan& plan,
              Placement& placement, std::vector<KernelDraft> drafts, WriteAfterRead order,
              KernelPool& pool, PassContext& context);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_ASSEMBLE_H_
