// The functions that are measured: ops, and compositions of ops.
#ifndef TG_TOOLS_ACCURACY_FUNCTIONS_H_
#define TG_TOOLS_ACCURACY_FUNCTIONS_H_

#include <mpfr.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.h"
#include "ir/op.h"
#include "tools/accuracy/onnx_node.h"

namespace tg::accuracy {

struct Function {
  std::string name;
  int arity = 1;
  // Lines of a graph that compute %r from %x and %y; $t is the type.
  std::string body;
  // Or an operator of ONNX.
  std::optional<OnnxNode> node;
  // The type of %r; void means the type of %x.
  Scalar result = Scalar::kVoid;
  // Selects the difficult arguments of this op as samples.
  Op like = Op::kNoop;
  // The exact value, rounded to many digits, and an approximation.
  int (*exact)(mpfr_ptr out, mpfr_srcptr x, mpfr_srcptr y) = nullptr;
  double (*near)(double x, double y) = nullptr;
  // The domain. Arguments outside of it are not measured; NaN is not either if the bounds are
  // finite.
  double low = 0, high = 0;
  // Measures in units in the last place of 1 if the exact value is below 1.
  bool absolute = false;
};

// exp2, log2, sin, pow, sqrt, recip or div.
Function FunctionOf(Op op);

// The bound of a type of floats.
double BoundOf(Scalar s, double f16, double bf16, double f32, double f64);

// A function of compositions.def, with its bounds by type.
struct Composition {
  Function function;
  double f16, bf16, f32, f64;
  double BoundFor(Scalar s) const;
};
std::span<const Composition> Compositions();

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_FUNCTIONS_H_
