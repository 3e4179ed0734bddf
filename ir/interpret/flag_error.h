// How much the module's flags allow a float to differ from the value that the ops' definitions
// give. Flags permit algebraic transformations of the whole graph; here they are bounded by an
// error of each op. Transformations that no flag permits contribute no error.
#ifndef TG_IR_INTERPRET_FLAG_ERROR_H_
#define TG_IR_INTERPRET_FLAG_ERROR_H_

#include <span>

#include "ir/dtype.h"
#include "ir/module_flags.h"
#include "ir/uop.h"

namespace tg::interpret {

class FlagError {
 public:
  // The error of elementwise op `u`.
  FlagError(const UOp* u, ModuleFlags flags);

  // Whether the flags change anything about this op.
  bool IsAny() const {
    return exact_algebra_ || zero_mul_ || no_nan_ || wide_ || rounds_factors_ || ratio_[0] ||
           ratio_[1];
  }

  // The error of element `y`, which the op computes in type `s` from the sources' elements `x` with
  // errors `error`. If it is infinite, every value is allowed.
  double Of(Scalar s, std::span<const double> x, std::span<const double> error, double y) const;

 private:
  double OfRatio(Scalar s, double x, double factor) const;

  Op op_;
  bool exact_algebra_;  // fast-math
  bool zero_mul_, no_nan_;
  bool wide_;            // wide-products and wide-halves: the result may not be rounded
  bool rounds_factors_;  // tf32
  // fast-math: the products of the op's constant factors below 1, and above 1.
  double small_factors_ = 1, large_factors_ = 1;
  // inf-ratio: by source, whether the op may be x/(x + 1), alone or as a part of a product, with
  // that source as x. `sum_`: whether the other source is then a sum that contains 1/(x + 1).
  bool ratio_[2] = {false, false};
  bool sum_ = false;
};

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_FLAG_ERROR_H_
