#include "passes/legalize/index_type.h"

#include <algorithm>

#include "passes/legalize/forward.h"

namespace tg::legalize {
namespace {

bool IsIndexOrAddress(const UOp* u) { return u->dtype.is_index() || u->op == Op::kIndex; }

// Whether `u` may be computed from an index that has no machine type yet: it is one, or it is a
// gate, which is computed from comparisons of indices.
bool MayHoldIndex(const UOp* u) {
  return IsIndexOrAddress(u) || (u->dtype.is_bool() && IsElementwise(u->op));
}

}  // namespace

IndexTypes::IndexTypes(Body& body, const Module& module)
    : body_(body), b_(*body.context), bounds_(*body.context, &module) {
  typed_.Reserve(2 * body.context->num_nodes());
}

const UOp* IndexTypes::Finish(const UOp* made) {
  if (IsIndexOrAddress(made)) return made;
  const UOp* v = made;
  if (std::any_of(made->srcs().begin(), made->srcs().end(), IsIndexOrAddress)) {
    Nodes srcs;
    for (const UOp* s : made->srcs()) srcs.push_back(IsIndexOrAddress(s) ? Typed(s) : s);
    v = Rewrite(made, Span(srcs));
  }
  if (v->dtype.is_bool()) typed_[v] = v;
  return v;
}

const UOp* IndexTypes::Typed(const UOp* root, uint32_t first_new) {
  const auto is_typed = [&](const UOp* u) {
    return typed_.Get(u) || (!MayHoldIndex(u) && u->id < first_new);
  };
  const auto typed = [&](const UOp* u) {
    const UOp* known = typed_.Get(u);
    return known ? known : u;
  };
  Nodes stack, srcs;
  if (!is_typed(root)) stack.push_back(root);
  while (!stack.empty()) {
    const UOp* u = stack.back();
    const size_t pending = stack.size();
    for (const UOp* s : u->srcs()) {
      if (!is_typed(s)) stack.push_back(s);
    }
    if (stack.size() != pending) continue;
    stack.pop_back();
    if (typed_.Get(u)) continue;
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(typed(s));
    const UOp* v = Rewrite(u, Span(srcs));
    body_.CarryOver(u, v);
    typed_[v] = v;
    typed_[u] = v;
  }
  return typed(root);
}

Scalar IndexTypes::TypeOfIndex(const UOp* u) {
  analysis::Interval v = bounds_.Of(u);
  // The type must hold the end of a loop, which its counter reaches, and the size of a grid
  // dimension.
  if (u->op == Op::kRange || u->op == Op::kSpecial) v = analysis::Union(v, bounds_.Of(u->src(0)));
  return TypeFor(v);
}

const UOp* IndexTypes::Rewrite(const UOp* u, UOpSpan srcs) {
  const bool makes_index = u->dtype.is_index();
  bool takes_index = false;
  for (const UOp* s : u->srcs()) takes_index |= s->dtype.is_index();
  if (!makes_index && !takes_index) return WithSources(b_, u, srcs);

  const Scalar result = makes_index ? TypeOfIndex(u) : Scalar::kVoid;
  switch (u->op) {
    case Op::kConst:
    case Op::kVConst:
      return b_.context().Make(u->op, u->dtype.WithScalar(result), srcs, u->attr);
    case Op::kCast:
      return b_.Cast(srcs[0], makes_index ? u->dtype.WithScalar(result) : u->dtype);
    case Op::kIndex:
    case Op::kEnd:  // names ranges, which may have either type
    case Op::kAfter:
      return WithSources(b_, u, srcs);
    default:
      break;
  }
  // One type for all index operands and the result.
  Scalar work = makes_index ? result : Scalar::kI32;
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
  return As(v, result);
}

const UOp* IndexTypes::As(const UOp* x, Scalar s) {
  if (x->dtype.scalar() == s) return x;
  const DType t = x->dtype.WithScalar(s);
  if (IsConst(x) || x->op == Op::kVConst) return b_.context().Make(x->op, t, {}, x->attr);
  return b_.Cast(x, t);
}

}  // namespace tg::legalize
