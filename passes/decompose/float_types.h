// Rewrites arithmetic in float types that the target does not compute in (bf16 and fp8 nowhere, f16
// on many) to f32 with one rounding an op.
//
// A value of such a type becomes an f32 that the type can hold. f32 has more than twice the bits of
// each of these types, so the f32 result of + - * / sqrt, rounded again, is the exact result
// rounded once. In memory the type stays what it is: f16 is read and written by converting accesses
// (a load of f32 from ptr<f16> widens, a store rounds), the others as raw bits. Register scratch
// holds f32.
//
// What else needs care: transcendentals of f16 are computed in f32 on every target.
#ifndef TG_PASSES_DECOMPOSE_FLOAT_TYPES_H_
#define TG_PASSES_DECOMPOSE_FLOAT_TYPES_H_

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/target.h"

namespace tg {

// Whether it may do anything about a body in which some node is of type `s`.
bool ConcernsFloatTypes(Scalar s, const Target& target);

// An error for what cannot be expressed: a matrix instruction on such a type, f64 or 64-bit
// integers where the target has none.
absl::Status LowerFloatTypes(Body& body, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_DECOMPOSE_FLOAT_TYPES_H_
