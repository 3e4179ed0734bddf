// Running error analysis: bounds of the difference between a result and that of any other correct
// evaluation of the same graph, which may sum in another order, contract a*b + c, or use other
// approximations of transcendental functions.
//
// Bounds are absolute. The rounding of the bounds themselves is considered to first order only. A
// correctly rounded op on exact sources is exact; error 0 means that bits must be equal. The bound
// is infinite if nothing is known, as after a comparison whose result is uncertain.
#ifndef TG_IR_INTERPRET_ERROR_BOUND_H_
#define TG_IR_INTERPRET_ERROR_BOUND_H_

#include <memory>
#include <span>
#include <vector>

#include "ir/interpret/options.h"
#include "ir/interpret/tensor_ops.h"
#include "ir/uop.h"

namespace tg::interpret {

using ErrorBounds = std::shared_ptr<const std::vector<double>>;

// The bounds of `result`, elementwise op `u` on `srcs`; null where all are 0.
ErrorBounds ElementwiseError(const UOp* u, std::span<const Tensor> srcs, const Tensor& result,
                             const InterpretOptions& options);

// The bounds of a reduction, while its elements come in.
class ReduceErrors {
 public:
  // `n`: elements of the result.
  ReduceErrors(Op op, Scalar s, size_t n);

  // Value i goes to result[targets[i]]; its error is that of element first + i of `x`.
  void Add(std::span<const int64_t> values, std::span<const int64_t> targets, const Tensor& x,
           size_t first);
  // `elements`: the number of values that were added. Null if all bounds are 0.
  ErrorBounds Take(double elements, const Tensor& result, ModuleFlags flags);

 private:
  const Op op_;
  const Scalar scalar_;
  const bool rounds_;
  bool uncertain_ = false;  // some element has an error
  std::vector<double> bounds_, magnitude_;
  // Bounds of the partial products over all orders of the factors.
  std::vector<double> least_, greatest_;
};

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_ERROR_BOUND_H_
