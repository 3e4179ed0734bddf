// Mathematical functions written out in arithmetic, for devices whose own are not trusted
// (Target::own_functions). Contraction of a*b + c may happen anywhere in them or nowhere: where an
// exact difference matters, the product is exact.
//
// How far results are from the exact ones is in ir/accuracy.def, which //tools/accuracy measures.
// Infinities, NaN and signs of zeros are as in C.
#ifndef TG_PASSES_DECOMPOSE_FLOAT_FUNCTIONS_H_
#define TG_PASSES_DECOMPOSE_FLOAT_FUNCTIONS_H_

#include "ir/module.h"
#include "passes/decompose/expression.h"
#include "passes/target.h"

namespace tg {

// Of f32 or f64. Intermediate values have that type, or are integers of up to 64 bits.
Term OwnExp2(Term x);
Term OwnLog2(Term x);
Term OwnPow(Term x, Term y);
Term OwnSin(Term x);

// Of f32, rounded correctly whatever the device's division does. The root begins with the device's,
// which may be wrong by 2^-19 of its value. OpenCL rounds both correctly for f64.
Term OwnDivide(Term x, Term y);
Term OwnSqrt(Term x);

// Writes out what the target does not trust its device with. After LowerFloatTypes: f16, bf16 and
// fp8 are f32 then.
void LowerFloatFunctions(Body& body, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_DECOMPOSE_FLOAT_FUNCTIONS_H_
