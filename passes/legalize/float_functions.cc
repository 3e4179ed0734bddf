#include "passes/legalize/float_functions.h"

#include "passes/legalize/forward.h"

namespace tg::legalize {
namespace {

// The expansion of the op, or null if the device's function is used.
const UOp* WriteOut(Builder& b, const UOp* u, UOpSpan srcs) {
  const Term x(b, srcs[0]);
  const bool is_f32 = u->dtype.scalar() == Scalar::kF32;
  switch (u->op) {
    case Op::kExp2:
      return OwnExp2(x).node();
    case Op::kLog2:
      return OwnLog2(x).node();
    case Op::kSin:
      return OwnSin(x).node();
    case Op::kPow:
      return OwnPow(x, Term(b, srcs[1])).node();
    case Op::kSqrt:
      return is_f32 ? OwnSqrt(x).node() : nullptr;
    case Op::kRecip:
      return is_f32 ? OwnDivide(x.Constant(1.0), x).node() : nullptr;
    case Op::kDiv:
      return is_f32 ? OwnDivide(x, Term(b, srcs[1])).node() : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

void LowerFloatFunctions(Body& body, const passes::Target& target) {
  if (target.own_functions.none()) return;
  Builder b(*body.context);
  ForwardRewrite(body, [&](const UOp* u, UOpSpan srcs) {
    const Scalar s = u->dtype.is_value() ? u->dtype.scalar() : Scalar::kVoid;
    if ((s == Scalar::kF32 || s == Scalar::kF64) &&
        target.own_functions.test(static_cast<size_t>(u->op))) {
      if (const UOp* v = WriteOut(b, u, srcs)) return v;
    }
    return WithSources(b, u, srcs);
  });
}

}  // namespace tg::legalize
