#include "codegen/c/renderer.h"

#include <utility>
#include <vector>

#include "codegen/c/kernel_writer.h"
#include "codegen/c/prelude.h"
#include "codegen/c/spelling.h"
#include "codegen/c/types.h"
#include "ir/kernel_calls.h"
#include "ir/value.h"

namespace tg::c {
namespace {

class Renderer : public codegen::Renderer {
 public:
  explicit Renderer(bool has_vectors) : has_vectors_(has_vectors) {}
  std::string_view name() const override { return has_vectors_ ? "c" : "c99"; }

  absl::StatusOr<codegen::RenderedModule> Render(const Module& module,
                                                 std::span<const Kernel* const> kernels,
                                                 const passes::Target& target,
                                                 passes::ThreadPool* workers) const override {
    const KernelCalls calls(module);
    std::vector<Prelude> preludes(kernels.size());
    std::vector<absl::StatusOr<codegen::RenderedKernel>> rendered(kernels.size());
    codegen::ForEachKernel(kernels.size(), workers, [&](size_t i) {
      const absl::Status stage = codegen::CheckStage(name(), *kernels[i]);
      rendered[i] = stage.ok()
                        ? CWriter(has_vectors_, module, *kernels[i], calls, target).Run(preludes[i])
                        : absl::StatusOr<codegen::RenderedKernel>(stage);
    });
    codegen::RenderedModule all;
    Prelude prelude;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (!rendered[i].ok()) return rendered[i].status();
      prelude.Merge(preludes[i]);
      all.kernels.push_back(*std::move(rendered[i]));
    }
    all.source = prelude.Text();
    for (const codegen::RenderedKernel& kernel : all.kernels) {
      if (&kernel != &all.kernels[0]) all.source += '\n';
      all.source += kernel.body;
    }
    return all;
  }

 private:
  const bool has_vectors_;
};

}  // namespace

std::string CIdentifier(std::string_view name) {
  std::string out = clike::Identifier(name);
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out = "_" + out;
  while (clike::IsKeyword(out) || Spellings().IsSpelled(out) || IsReservedWord(out) ||
         out[0] == '_') {
    out = out[0] == '_' ? "x" + out : out + "_";
  }
  return out;
}

std::string_view ElementType(Scalar s) { return MemoryType(s); }

std::string ElementLiteral(Scalar s, int64_t bits) {
  if (s == Scalar::kF32 || s == Scalar::kF64) {
    const double value = DoubleFromBits(s, bits);
    return value != value ? "NAN" : Literal(s, bits, /*exact=*/false);
  }
  if (!IsFloat(s) && s != Scalar::kBool) return Literal(s, bits, /*exact=*/false);
  return std::to_string(bits & (BitWidth(s) == 8 ? 0xff : 0xffff));  // the bits
}

const codegen::Renderer& C17Renderer() {
  static const Renderer& renderer = *new Renderer(true);
  return renderer;
}

const codegen::Renderer& C99Renderer() {
  static const Renderer& renderer = *new Renderer(false);
  return renderer;
}

}  // namespace tg::c
