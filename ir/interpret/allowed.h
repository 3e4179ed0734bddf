// Which differences between two evaluations are allowed. `--check`, tg-fuzz and the tests of
// devices decide by these functions.
#ifndef TG_IR_INTERPRET_ALLOWED_H_
#define TG_IR_INTERPRET_ALLOWED_H_

#include <cstdint>

#include "ir/dtype.h"
#include "ir/module_flags.h"

namespace tg::interpret {

// The difference between `actual` and `expected` (bits of type `s`) divided by `allowed`. The
// difference is allowed if the result is at most 1, and always if `allowed` is infinite. 0 and -0
// differ only if `allowed` is 0; NaNs never differ. Near the greatest number, one evaluation may
// overflow although the other does not.
double OfAllowed(Scalar s, int64_t expected, int64_t actual, double allowed);

// Whether the flags allow any value in place of `v`, which is the value of a float type by the
// definitions of the ops, if it is not known how `v` was computed. If rounding errors are tracked
// (error_bound.h), that is known, and fewer values are allowed.
bool AllowAnyValueFor(ModuleFlags flags, double v);

// Whether the flags allow both `a` and `b` (bits of type `s`) as the value of one element, if it is
// not known how it was computed.
bool AllowBoth(ModuleFlags flags, Scalar s, int64_t a, int64_t b);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_ALLOWED_H_
