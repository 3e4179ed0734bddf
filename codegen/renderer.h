// Renderer: what a backend is to the rest of tg. A linear kernel goes in; source text or machine
// code comes out, with what a runtime must know to launch it.
//
// What a backend cannot do is a Status, never a wrong result: kFailedPrecondition for a kernel that
// is not at stage linear, kUnimplemented for an op, a type or a width that it lacks. The message
// begins with the renderer's name and names the kernel and the op. Passes avoid such kernels,
// because they are told by a Target what the backend has (docs/renderers.md).
#ifndef TG_CODEGEN_RENDERER_H_
#define TG_CODEGEN_RENDERER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/launch_data.h"
#include "ir/module.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/target.h"
#include "passes/thread_pool.h"

namespace tg::codegen {

struct RenderedModule {
  std::string source;                   // the code of all functions: one program, unit or object
  std::vector<RenderedKernel> kernels;  // in the given order
};

class Renderer {
 public:
  virtual ~Renderer() = default;

  // The name of the language, which begins error messages and is a value of `tg-opt --emit`.
  virtual std::string_view name() const = 0;
  // Whether RenderedModule::source is text for people and compilers, and not machine code.
  virtual bool is_text() const { return true; }
  // Renders these kernels of the module. A thread pool renders several in parallel; the result does
  // not depend on it. Thread-safe.
  virtual absl::StatusOr<RenderedModule> Render(const Module& module,
                                                std::span<const Kernel* const> kernels,
                                                const passes::Target& target,
                                                passes::ThreadPool* workers) const = 0;
};

// All kernels of the module.
absl::StatusOr<RenderedModule> RenderAll(const Renderer& renderer, const Module& module,
                                         const passes::Target& target,
                                         passes::ThreadPool* workers = nullptr);

// For renderers: an error unless the kernel is at stage linear.
absl::Status CheckStage(std::string_view renderer, const Kernel& kernel);
// The error for a node that a renderer cannot render.
absl::Status CannotRender(std::string_view renderer, const Kernel& kernel, const UOp* u,
                          std::string_view why);
// Calls render(i) for each of `n` kernels, on several threads if there is a pool.
void ForEachKernel(size_t n, passes::ThreadPool* workers, llvm::function_ref<void(size_t)> render);

}  // namespace tg::codegen

#endif  // TG_CODEGEN_RENDERER_H_
