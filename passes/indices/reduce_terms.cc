#include "passes/indices/reduce_terms.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::indices {

const UOp* ReduceLoops(Builder& b, Op op, const UOp* x, const std::vector<const UOp*>& ranges) {
  if (ranges.empty()) return x;
  std::vector<const UOp*> srcs = {x};
  srcs.insert(srcs.end(), ranges.begin(), ranges.end());
  Context& ctx = b.context();
  return ctx.Make(Op::kReduce, x->dtype, srcs,
                  ctx.MakeAttr(Op::kReduce, {static_cast<int64_t>(op)}));
}

const UOp* ReduceLanes(Builder& b, FreeLeaves& free, Op op, const UOp* x,
                       const std::vector<const UOp*>& unrolls) {
  if (unrolls.empty()) return x;
  const DType t = x->dtype;
  const std::vector<const UOp*> varying = free.UnrollsOf(x);
  llvm::SmallVector<int64_t, 8> axes = {0};
  int lanes = t.lanes(), copies = 1;
  for (const UOp* u : unrolls) {
    const int size = static_cast<int>(u->word(1));
    if (!llvm::is_contained(varying, u)) {
      copies *= size;
      continue;
    }
    axes.push_back(u->word(0));
    ++axes[0];
    lanes *= size;
  }
  Context& ctx = b.context();
  if (axes[0] > 0) {
    x = ctx.Make(Op::kContract, t.WithLanes(lanes), {x},
                 ctx.MakeAttr(Op::kContract, {axes.data(), axes.size()}));
  }
  llvm::SmallVector<const UOp*, 8> repeated(static_cast<size_t>(copies), x);
  if (copies > 1) x = b.Cat({repeated.data(), repeated.size()});
  if (x->dtype == t) return x;
  return ctx.Make(Op::kReduce, t, {x}, ctx.MakeAttr(Op::kReduce, {static_cast<int64_t>(op)}));
}

const UOp* ReduceTerms(Builder& b, FreeLeaves& free, Op op, const UOp* x,
                       const std::vector<const UOp*>& unrolls,
                       const std::vector<const UOp*>& ranges, int64_t max_accumulators) {
  if (!unrolls.empty() && !ranges.empty()) {
    const std::vector<const UOp*> varying = free.UnrollsOf(x);
    int64_t lanes = x->dtype.lanes();
    for (const UOp* u : varying) lanes *= u->word(1);
    const bool all =
        llvm::all_of(unrolls, [&](const UOp* u) { return llvm::is_contained(varying, u); });
    const int64_t words = std::max<int64_t>(1, ByteSize(x->dtype.scalar()) / 4);
    if (all && lanes * words <= max_accumulators) {
      return ReduceLanes(b, free, op, ReduceLoops(b, op, x, ranges), unrolls);
    }
  }
  return ReduceLoops(b, op, ReduceLanes(b, free, op, x, unrolls), ranges);
}

}  // namespace tg::indices
