#include "passes/rewrite/build.h"

#include <vector>

namespace tg {

const UOp* UniformConst(Context& ctx, DType t, int64_t bits) {
  if (t.lanes() == 1) return ctx.Make(Op::kConst, t, {}, Attr{static_cast<uint64_t>(bits)});
  std::vector<int64_t> words(static_cast<size_t>(t.lanes()) + 1, bits);
  words[0] = t.lanes();
  return ctx.Make(Op::kVConst, t, {}, ctx.MakeAttr(Op::kVConst, words));
}

}  // namespace tg
