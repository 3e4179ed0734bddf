#include "passes/devectorize/horizontal.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/devectorize/lane_origins.h"

namespace tg::devectorize {
namespace {

// The vector of lanes first, first + step, ... of `x` (n of them), each followed by the `width - 1`
// lanes after it.
const UOp* Strided(Builder& b, const UOp* x, int first, int step, int n, int width) {
  llvm::SmallVector<int64_t, 64> picks;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < width; ++k) picks.push_back(first + i * step + k);
  }
  return PickLanes(b, x, {picks.data(), picks.size()});
}

// Combines the lanes within each of `n` groups of lanes of `x` from left to right, starting with
// `sum`, or with the first lane of each group if it is null. The result has n lanes.
const UOp* FromLeft(Builder& b, Op op, const UOp* sum, const UOp* x, int n) {
  const int h = x->dtype.lanes() / n;
  for (int k = 0; k < h; ++k) {
    const UOp* term = Strided(b, x, k, h, n, 1);
    sum = sum ? b.Alu(op, {sum, term}) : term;
  }
  return sum;
}

const UOp* Combine(Builder& b, Op op, const UOp* x, int n, bool reassociate) {
  if (!reassociate) return FromLeft(b, op, nullptr, x, n);
  int h = x->dtype.lanes() / n;
  const UOp* odd = nullptr;  // the terms of the groups that had no partner, combined
  for (; h > 1; h /= 2) {
    if (h % 2 != 0) {
      const UOp* last = Strided(b, x, h - 1, h, n, 1);
      odd = odd ? b.Alu(op, {last, odd}) : last;
    }
    const int half = h / 2;
    x = b.Alu(op, {Strided(b, x, 0, h, n, half), Strided(b, x, half, h, n, half)});
  }
  return odd ? b.Alu(op, {x, odd}) : x;
}

bool IsSum(const UOp* u) {
  return u->op == Op::kReduce && static_cast<Op>(u->word()) == Op::kAdd && u->num_srcs == 1 &&
         u->dtype.is_float();
}

// Whether something hides the latency of multiply-adds, each of which waits for the previous one of
// its sum. On a GPU those are other work-items. On a CPU it takes as many independent sums
// (vectors) as two thirds of Target::fma_accumulators, which has a margin. A few less are enough
// for few terms, since the tree that is the alternative needs additional additions.
bool HidesWaiting(const UOp* sum, const passes::Target& target) {
  if (target.HidesWaits()) return true;
  const int64_t terms = sum->src(0)->dtype.lanes() / sum->dtype.lanes();
  const int64_t size = ByteSize(sum->dtype.scalar());
  const int64_t width = std::max<int64_t>(1, target.alu_width / size);
  const int64_t sums = CeilDiv(sum->dtype.lanes(), width);
  return 3 * sums * (terms + 1) >= 2 * target.fma_accumulators * terms;
}

// Finds sums that are only read by one addition, to which their terms may be added one by one.
NodeSet FindChains(UOpSpan order, const passes::Target& target) {
  NodeSet chains, used, again;
  std::vector<const UOp*> found;
  for (const UOp* u : order) {
    for (const UOp* s : u->srcs()) {
      if (IsSum(s) && !used.Insert(s)) again.Insert(s);
    }
    if (u->op != Op::kAdd) continue;
    const auto chain = std::find_if(u->srcs().begin(), u->srcs().end(), [&](const UOp* s) {
      return IsSum(s) && HidesWaiting(s, target);
    });
    if (chain != u->srcs().end()) found.push_back(*chain);
  }
  for (const UOp* s : found) {
    if (!again.Contains(s)) chains.Insert(s);
  }
  return chains;
}

}  // namespace

LaneReducer::LaneReducer(Body& body, bool reassociate, const passes::Target& target, UOpSpan order)
    : body_(body), b_(*body.context), reassociate_(reassociate) {
  if (reassociate) chains_ = FindChains(order, target);
}

const UOp* LaneReducer::Rewrite(const UOp* u, UOpSpan srcs) {
  for (size_t i = 0; u->op == Op::kAdd && i < srcs.size(); ++i) {
    if (!chains_.Contains(u->src(i))) continue;
    return FromLeft(b_, Op::kAdd, srcs[1 - i], srcs[i]->src(0), u->dtype.lanes());
  }
  if (u->op != Op::kReduce || chains_.Contains(u)) return nullptr;
  if (srcs.size() > 1) {
    status_ = absl::FailedPreconditionError(
        absl::StrCat(body_.Describe(u), " still has ranges: run lower and expand first"));
    return u;
  }
  return Combine(b_, static_cast<Op>(u->word()), srcs[0], u->dtype.lanes(), reassociate_);
}

}  // namespace tg::devectorize
