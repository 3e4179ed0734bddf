#include "passes/rewrite/build.h"

#include "llvm/ADT/SmallVector.h"

namespace tg {

const UOp* UniformConst(Context& ctx, DType t, int64_t bits) {
  if (t.lanes() == 1) return ctx.Make(Op::kConst, t, {}, Attr{static_cast<uint64_t>(bits)});
  const llvm::SmallVector<int64_t, 64> items(static_cast<size_t>(t.lanes()), bits);
  return ctx.Make(Op::kVConst, t, {}, ctx.MakeListAttr(Op::kVConst, {items.data(), items.size()}));
}

}  // namespace tg
