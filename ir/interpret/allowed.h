// Which differences between two evaluations are allowed: the one judgement behind `--check`,
// tg-fuzz and the tests of devices.
#ifndef TG_IR_INTERPRET_ALLOWED_H_
#define TG_IR_INTERPRET_ALLOWED_H_

#include <cstdint>

#include "ir/dtype.h"
#include "ir/module_flags.h"

namespace tg {

// How far `actual` is from `expected`, both bits of type `s`, as a multiple of what is `allowed`:
// at most 1 for what is. With an infinite allowance everything is. 0 and -0 differ where nothing is
// allowed, NaNs never do. Near the greatest number one evaluation may overflow and the other not.
double OfAllowed(Scalar s, int64_t expected, int64_t actual, double allowed);

// Whether the flags allow any other value where the ops as they are defined give `v`, a number of a
// float type, and nothing is known of how `v` came about. What is known where rounding errors are
// tracked (error_bound.h) allows less.
bool AllowAnyValueFor(ModuleFlags flags, double v);

}  // namespace tg

#endif  // TG_IR_INTERPRET_ALLOWED_H_
