#include "codegen/c/renderer.h"

#include "codegen/c/kernel_writer.h"
#include "codegen/c/prelude.h"
#include "codegen/c/spelling.h"
#include "codegen/c/types.h"
#include "codegen/clike/render_kernels.h"

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
    return clike::RenderKernels<Prelude>(
        name(), module, kernels, workers,
        [&](const Kernel& kernel, const KernelCalls& calls, Prelude& prelude) {
          return CWriter(has_vectors_, module, kernel, calls, target).Run(prelude);
        });
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
  const bool as_bits = s == Scalar::kBool || (IsFloat(s) && BitWidth(s) < 32);
  if (as_bits) return std::to_string(bits & (BitWidth(s) == 16 ? 0xffff : 0xff));
  return clike::LiteralOf(kWords, s, bits, /*exact=*/false, [] { return std::string("NAN"); });
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
