// The OpenCL renderer: a kernel at stage linear becomes a function that a person can read.
//
// It is a walk over Body::linear. Every op that the target has is spelled by the table
// spelling.def; what a target lacks was rewritten by devectorize, and what is left over is an error
// that names it. Loads and everything used more than once get names (v0, v1, ...); short
// expressions used once are written where they are used, never past a store that could change them.
// Register scratch whose pieces are always accessed whole becomes variables (acc0, ...), other
// scratch arrays (tile0, ...).
//
// Integers wrap: signed arithmetic whose bounds do not rule out an overflow is done in the unsigned
// type. Floats are contracted unless the module says no-contract.
//
// An argument is `restrict` unless some call in the module gives two arguments one buffer and
// writes it, and `const` where it is only read.
#ifndef TG_CODEGEN_OPENCL_RENDERER_H_
#define TG_CODEGEN_OPENCL_RENDERER_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/opencl/launch.h"
#include "ir/module.h"
#include "passes/target.h"
#include "passes/workers.h"

namespace tg {

// Errors: a kernel at another stage; an op or type that the target does not have.
absl::StatusOr<RenderedKernel> RenderKernel(const Module& module, const Kernel& kernel,
                                            const Target& target);

struct RenderedModule {
  std::string source;                   // all functions, for one build
  std::vector<RenderedKernel> kernels;  // in the order given
};
// The kernels given, or all of the module. Several at a time where there are workers; the text does
// not depend on them.
absl::StatusOr<RenderedModule> RenderModule(const Module& module, const Target& target,
                                            Workers* workers = nullptr);
absl::StatusOr<RenderedModule> RenderModule(const Module& module,
                                            std::span<const Kernel* const> kernels,
                                            const Target& target, Workers* workers = nullptr);

}  // namespace tg

#endif  // TG_CODEGEN_OPENCL_RENDERER_H_
