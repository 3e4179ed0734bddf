// Expands mathematical functions into arithmetic, for devices whose functions are inaccurate
// (Target::own_functions). The device may contract any a*b + c to a multiply-add or not: where a
// difference must be exact, the product is exact.
//
// The error bounds are in ir/accuracy.def, which //tools/accuracy checks by measurement.
// Infinities, NaN and signs of zeros are as in C.
#ifndef TG_PASSES_LEGALIZE_FLOAT_FUNCTIONS_H_
#define TG_PASSES_LEGALIZE_FLOAT_FUNCTIONS_H_

#include "ir/module.h"
#include "passes/legalize/expression.h"
#include "passes/target.h"

namespace tg::legalize {

// For f32 or f64. Intermediate values have that type, or are integers of up to 64 bits.
Term OwnExp2(Term x);
Term OwnLog2(Term x);
Term OwnPow(Term x, Term y);
Term OwnSin(Term x);

// For f32: correctly rounded, whatever the device's division does. The root starts from the
// device's result, whose relative error may be 2^-19. OpenCL rounds both correctly for f64.
Term OwnDivide(Term x, Term y);
Term OwnSqrt(Term x);

// Expands the functions in Target::own_functions. Must run after LowerFloatTypes, which replaces
// f16, bf16 and fp8 by f32.
void LowerFloatFunctions(Body& body, const passes::Target& target);

}  // namespace tg::legalize

#endif  // TG_PASSES_LEGALIZE_FLOAT_FUNCTIONS_H_
