// Assembles the resulting graph, which consists of kernel calls and of assigns of their results to
// buffers.
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

namespace tg::kernelize {

// Rewrites `graph` so that it has an assign for each value that a draft stores. `order` says which
// drafts must run before others. Kernels are added to `pool`, temporary buffers to the module.
void Assemble(Module& module, Graph& graph, ShapeMap& shapes, const MaterializationPlan& plan,
              Placement& placement, std::vector<KernelDraft> drafts, WriteAfterRead order,
              KernelPool& pool, passes::PassContext& context);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_ASSEMBLE_H_
