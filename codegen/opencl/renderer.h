// The OpenCL renderer: turns a kernel at stage linear into a readable function.
//
// The renderer walks Body::linear. The table spelling.def spells every op that the target has.
// devectorize has rewritten ops that the target lacks; a remaining one is an error that names it.
// Loads, and values with several uses, get names (v0, v1, ...). A short expression with one use is
// inlined there, but never past a store that could change its value. Register scratch whose pieces
// are always accessed whole becomes variables (acc0, ...); other scratch becomes arrays (tile0,
// ...).
//
// Integers wrap: signed arithmetic is done in the unsigned type unless its bounds rule out an
// overflow. Floats are contracted unless the module says no-contract.
//
// An argument is `restrict` unless some call in the module passes one buffer for two arguments and
// writes it, and `const` if it is only read.
#ifndef TG_CODEGEN_OPENCL_RENDERER_H_
#define TG_CODEGEN_OPENCL_RENDERER_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/renderer.h"
#include "ir/module.h"
#include "passes/target.h"
#include "passes/thread_pool.h"

namespace tg::opencl {

// Fails for a kernel at another stage, and for an op or type that the target does not have.
absl::StatusOr<codegen::RenderedKernel> RenderKernel(const Module& module, const Kernel& kernel,
                                                     const passes::Target& target);

// Renders the given kernels, or all kernels of the module. A thread pool renders several in
// parallel; the text does not depend on it.
absl::StatusOr<codegen::RenderedModule> RenderModule(const Module& module,
                                                     const passes::Target& target,
                                                     passes::ThreadPool* workers = nullptr);
absl::StatusOr<codegen::RenderedModule> RenderModule(const Module& module,
                                                     std::span<const Kernel* const> kernels,
                                                     const passes::Target& target,
                                                     passes::ThreadPool* workers = nullptr);

// The same as a backend.
const codegen::Renderer& OpenClRenderer();

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_RENDERER_H_
