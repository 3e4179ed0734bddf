// By how much the module's flags let a float differ from what its ops give: the algebra that they
// permit, over the whole graph, as an error of each op. What they do not permit has no error here.
#ifndef TG_IR_INTERPRET_FLAG_ERROR_H_
#define TG_IR_INTERPRET_FLAG_ERROR_H_

#include <span>

#include "ir/dtype.h"
#include "ir/module_flags.h"
#include "ir/uop.h"

namespace tg {

class FlagError {
 public:
  // Of elementwise op `u`.
  FlagError(const UOp* u, ModuleFlags flags);

  // Whether the flags change anything about this op.
  bool IsAny() const { return exact_algebra_ || zero_mul_ || no_nan_ || ratio_[0] || ratio_[1]; }

  // The error of an element `y` of type `s` that the op makes of `x`; `error` is that of each
  // source. Infinite: any value is right.
  double Of(Scalar s, std::span<const double> x, std::span<const double> error, double y) const;

 private:
  double OfRatio(Scalar s, double x, double factor) const;

  Op op_;
  bool exact_algebra_;  // fast-math
  bool zero_mul_, no_nan_;
  double small_factors_ = 1;  // of a product with fast-math: its constant factors below 1
  // inf-ratio: by source, whether the op may be x/(x + 1), in a product or not, with that source as
  // its x; and whether the other one is then a sum with 1/(x + 1).
  bool ratio_[2] = {false, false};
  bool sum_ = false;
};

}  // namespace tg

#endif  // TG_IR_INTERPRET_FLAG_ERROR_H_
