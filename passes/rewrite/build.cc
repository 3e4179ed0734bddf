#include "passes/rewrite/build.h"

#include <cmath>

#include "ir/float_format.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::rewrite {

const UOp* UniformConst(Context& ctx, DType t, int64_t bits) {
  if (t.lanes() == 1) return ctx.Make(Op::kConst, t, {}, Attr{static_cast<uint64_t>(bits)});
  const llvm::SmallVector<int64_t, 64> items(static_cast<size_t>(t.lanes()), bits);
  return ctx.Make(Op::kVConst, t, {}, ctx.MakeListAttr(Op::kVConst, {items.data(), items.size()}));
}

namespace pattern {

bool IsRepresentable(Op op, Scalar s, std::span<const int64_t> args, int64_t result) {
  bool has_zero = false;
  for (const int64_t bits : args) {
    const double v = DoubleFromBits(s, bits);
    if (!std::isfinite(v)) return true;
    has_zero |= v == 0;
  }
  const double v = std::fabs(DoubleFromBits(s, result));
  if (!std::isfinite(v)) return false;
  const bool may_underflow = (op == Op::kMul || op == Op::kDiv) && !has_zero;
  return !may_underflow || v >= std::ldexp(1.0, FormatOf(s).min_exponent());
}

}  // namespace pattern
}  // namespace tg::rewrite
