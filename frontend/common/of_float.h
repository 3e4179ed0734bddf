// Functions of floats of 32 bits or more, applied to floats of any width.
#ifndef TG_FRONTEND_COMMON_OF_FLOAT_H_
#define TG_FRONTEND_COMMON_OF_FLOAT_H_

#include "frontend/common/graph_builder.h"

namespace tg::frontend {

// Calls f on x as a float of 32 bits or more; the result has x's type again.
template <typename F>
Value OfFloat(GraphBuilder& g, Value x, F&& f) {
  if (!x) return nullptr;
  if (!x->dtype.is_float()) return g.Fail("a function of floats of " + g.Describe(x));
  const Scalar type = x->dtype.scalar();
  return g.Cast(f(BitWidth(type) < 32 ? g.Cast(x, Scalar::kF32) : x), type);
}

}  // namespace tg::frontend

#endif  // TG_FRONTEND_COMMON_OF_FLOAT_H_
