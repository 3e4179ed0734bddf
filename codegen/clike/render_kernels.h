// Renders kernels into one source: the prelude that they share, then their functions.
#ifndef TG_CODEGEN_CLIKE_RENDER_KERNELS_H_
#define TG_CODEGEN_CLIKE_RENDER_KERNELS_H_

#include <span>
#include <utility>
#include <vector>

#include "codegen/renderer.h"
#include "ir/kernel_calls.h"

namespace tg::clike {

// Calls render(kernel, calls, prelude), which gives a StatusOr<RenderedKernel>, for each kernel, on
// several threads if there is a pool. A `Prelude` has Merge() and Text(), and its text does not
// depend on the threads.
template <typename Prelude, typename Render>
absl::StatusOr<codegen::RenderedModule> RenderKernels(std::string_view renderer,
                                                      const Module& module,
                                                      std::span<const Kernel* const> kernels,
                                                      passes::ThreadPool* workers,
                                                      const Render& render) {
  const KernelCalls calls(module);
  std::vector<Prelude> preludes(kernels.size());
  std::vector<absl::StatusOr<codegen::RenderedKernel>> rendered(kernels.size());
  codegen::ForEachKernel(kernels.size(), workers, [&](size_t i) {
    const absl::Status stage = codegen::CheckStage(renderer, *kernels[i]);
    if (stage.ok()) {
      rendered[i] = render(*kernels[i], calls, preludes[i]);
    } else {
      rendered[i] = stage;
    }
  });
  codegen::RenderedModule all;
  Prelude prelude;
  size_t size = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!rendered[i].ok()) return rendered[i].status();
    prelude.Merge(preludes[i]);
    size += rendered[i]->body.size() + 1;
    all.kernels.push_back(*std::move(rendered[i]));
  }
  const std::string head = prelude.Text();
  all.source.reserve(head.size() + size);
  all.source = head;
  for (const codegen::RenderedKernel& kernel : all.kernels) {
    if (&kernel != &all.kernels[0]) all.source += '\n';
    all.source += kernel.body;
  }
  return all;
}

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_RENDER_KERNELS_H_
