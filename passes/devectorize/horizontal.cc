#include "passes/devectorize/horizontal.h"

#include "absl/strings/str_cat.h"
#include "passes/decompose/forward.h"
#include "passes/devectorize/lanes.h"

namespace tg {
namespace {

// Lanes first, first + step, ... (n of them), each followed by its `width - 1` neighbours.
const UOp* Strided(Builder& b, const UOp* x, int first, int step, int n, int width) {
  LaneRefs refs;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < width; ++k) refs.push_back(OriginOf(b, x, first + i * step + k));
  }
  return Assemble(b, {refs.data(), refs.size()});
}

// `x`: n groups of h lanes.
const UOp* Combine(Builder& b, Op op, const UOp* x, int n, bool reassociate) {
  int h = x->dtype.lanes() / n;
  if (!reassociate) {
    const UOp* sum = Strided(b, x, 0, h, n, 1);
    for (int k = 1; k < h; ++k) sum = b.Alu(op, {sum, Strided(b, x, k, h, n, 1)});
    return sum;
  }
  const UOp* odd = nullptr;  // what did not pair up
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

}  // namespace

absl::Status ReduceLanes(Body& body, bool reassociate) {
  Builder b(*body.context);
  absl::Status status;
  ForwardRewrite(body, [&](const UOp* u, UOpSpan srcs) {
    if (u->op != Op::kReduce) return WithSources(b, u, srcs);
    if (srcs.size() > 1) {
      status = absl::FailedPreconditionError(
          absl::StrCat(body.Describe(u), " still has ranges: run lower and expand first"));
      return u;
    }
    return Combine(b, static_cast<Op>(u->word()), srcs[0], u->dtype.lanes(), reassociate);
  });
  return status;
}

}  // namespace tg
