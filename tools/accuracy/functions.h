// The functions that are measured: ops, and what is built of them.
#ifndef TG_TOOLS_ACCURACY_FUNCTIONS_H_
#define TG_TOOLS_ACCURACY_FUNCTIONS_H_

#include <mpfr.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.h"
#include "ir/op.h"

namespace tg::accuracy {

struct Function {
  std::string name;
  int arity = 1;
  // Lines of a graph that make %r of %x and %y; $t is the type.
  std::string body;
  // The type of %r; void: that of %x.
  Scalar result = Scalar::kVoid;
  // What has to be sampled with care.
  Op like = Op::kNoop;
  // The exact value, rounded to many digits, and nearly that.
  int (*exact)(mpfr_ptr out, mpfr_srcptr x, mpfr_srcptr y) = nullptr;
  double (*near)(double x, double y) = nullptr;
  // Arguments outside are not asked for; neither is NaN where these are finite.
  double low = 0, high = 0;
  // Units in the last place of 1 where the exact value is less.
  bool absolute = false;
};

// exp2, log2, sin, pow, sqrt, recip or div.
Function FunctionOf(Op op);

// A function of compositions.def, and its bounds by type.
struct Composition {
  Function function;
  double f16, bf16, f32, f64;
  double BoundFor(Scalar s) const;
};
std::span<const Composition> Compositions();

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_FUNCTIONS_H_
