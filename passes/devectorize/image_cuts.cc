// Accesses to images, by texels.
#include "absl/strings/str_cat.h"
#include "passes/devectorize/image_access.h"
#include "passes/devectorize/memory_cutter.h"

namespace tg::devectorize {

const UOp* MemoryCutter::LoadImage(const UOp* u, UOpSpan srcs) {
  const UOp* alternative = srcs.size() > 1 ? srcs[1] : nullptr;
  LaneRefs result(static_cast<size_t>(u->dtype.lanes()));
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = alternative ? OriginOf(b_, alternative, static_cast<int>(i))
                            : LaneRef{b_.Const(kF32, 0), 0};
  }
  for (const LaneAccess& l : LanesOf(u, alternative)) {
    const uint32_t old = b_.context().num_nodes();
    LaneRef x = LoadImageElement(b_, index_.linear(), PointerOf(srcs[0]), l.address, l.gate);
    x.node = types_.Typed(x.node, old);
    body_.CarryOver(u, x.node);
    // A texel under a false gate reads 0, so that any other alternative needs a select.
    const bool is_zero = !l.alternative || l.alternative == b_.Const(kF32, 0);
    if (l.gate && !is_zero) {
      x = {b_.Where(types_.Typed(l.gate), Assemble(b_, {&x, 1}), l.alternative), 0};
    }
    result[static_cast<size_t>(l.lane)] = x;
    ++statistics_.wide_accesses;
  }
  return Assemble(b_, {result.data(), result.size()});
}

const UOp* MemoryCutter::StoreImage(const UOp* u, UOpSpan srcs) {
  legalize::Nodes tokens;
  for (const ElementRun& run : RunsOf(LanesOf(u, nullptr))) {
    AffineExpr start = run.start;
    if (run.size() % 4 != 0 || index_.linear().Divisor(start) % 4 != 0) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat(body_.Describe(u),
                       ": an image is written by whole texels, four channels in one work-item"));
      return u;
    }
    for (size_t at = 0; at < run.size(); at += 4, start.Advance(4)) {
      LaneRefs refs;
      for (size_t k = 0; k < 4; ++k)
        refs.push_back(OriginOf(b_, srcs[1], run.LanesOf(at + k).back()));
      const UOp* address = TexelAddress(b_, index_.linear(), PointerOf(srcs[0]), start, run.gate);
      tokens.push_back(b_.Store(types_.Typed(address), Assemble(b_, {refs.data(), refs.size()})));
      ++statistics_.wide_accesses;
    }
  }
  return Join(legalize::Span(tokens));
}

}  // namespace tg::devectorize
