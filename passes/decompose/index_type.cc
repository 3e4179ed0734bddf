#include "passes/decompose/index_type.h"

#include <cstdint>

#include "passes/analysis/bounds.h"
#include "passes/decompose/forward.h"

namespace tg {
namespace {

class IndexTypes {
 public:
  IndexTypes(Body& body, const Module& module)
      : body_(body), b_(*body.context), bounds_(*body.context, &module) {}

  void Run(UOpSpan order) {
    ForwardRewrite(body_, order, [&](const UOp* u, UOpSpan srcs) { return Rewrite(u, srcs); });
  }

 private:
  // The type that the value of `u`, an index, is kept in.
  Scalar KeptAs(const UOp* u) {
    Interval v = bounds_.Of(u);
    // A loop's counter reaches the end, and the size of a grid is a number of the same type.
    if (u->op == Op::kRange || u->op == Op::kSpecial) v = Union(v, bounds_.Of(u->src(0)));
    return v.lo >= INT32_MIN && v.hi <= INT32_MAX ? Scalar::kI32 : Scalar::kI64;
  }

  const UOp* Rewrite(const UOp* u, UOpSpan srcs) {
    const bool makes_index = u->dtype.is_index();
    bool takes_index = false;
    for (const UOp* s : u->srcs()) takes_index |= s->dtype.is_index();
    if (!makes_index && !takes_index) return WithSources(b_, u, srcs);

    const Scalar kept = makes_index ? KeptAs(u) : Scalar::kVoid;
    switch (u->op) {
      case Op::kConst:
      case Op::kVConst:
        return b_.context().Make(u->op, u->dtype.WithScalar(kept), srcs, u->attr);
      case Op::kCast:
        return b_.Cast(srcs[0], makes_index ? u->dtype.WithScalar(kept) : u->dtype);
      case Op::kIndex:
      case Op::kEnd:  // names loops, of whatever types
      case Op::kAfter:
        return WithSources(b_, u, srcs);
      default:
        break;
    }
    // One type for all index operands and the result.
    Scalar work = makes_index ? kept : Scalar::kI32;
    for (size_t i = 0; i < srcs.size(); ++i) {
      if (u->src(i)->dtype.is_index() && srcs[i]->dtype.scalar() == Scalar::kI64) {
        work = Scalar::kI64;
      }
    }
    Nodes same;
    for (size_t i = 0; i < srcs.size(); ++i) {
      const bool is_index = u->src(i)->dtype.is_index();
      same.push_back(is_index ? As(srcs[i], work) : srcs[i]);
    }
    if (!makes_index) return WithSources(b_, u, Span(same));
    const UOp* v = b_.context().Make(u->op, u->dtype.WithScalar(work), Span(same), u->attr);
    return As(v, kept);
  }

  // i32 or i64 as the other; a constant has its type at once.
  const UOp* As(const UOp* x, Scalar s) {
    const DType t = x->dtype.WithScalar(s);
    if (IsConst(x) || x->op == Op::kVConst) return b_.context().Make(x->op, t, {}, x->attr);
    return b_.Cast(x, t);
  }

  Body& body_;
  Builder b_;
  Bounds bounds_;
};

}  // namespace

void LowerIndexType(Body& body, const Module& module, UOpSpan order) {
  IndexTypes(body, module).Run(order);
}

}  // namespace tg
