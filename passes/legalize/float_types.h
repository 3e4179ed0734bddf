// Rewrites arithmetic in float types that the target does not compute in (bf16 and fp8 on every
// target, f16 on many) to f32, with one rounding per op (two for mulacc: the product and the sum).
//
// A value of such a type becomes an f32 that the type can hold. f32 has more than twice the bits of
// each of these types, so the f32 result of + - * / sqrt, rounded again, is the exact result
// rounded once. In memory the type stays what it is: f16 is read and written by converting accesses
// (a load of f32 from ptr<f16> widens, a store rounds), the others as raw bits. Register scratch
// holds f32. Where instructions convert a type (ConvertsPairs), it is raw bits in all memory.
//
// A value that is only moved, between memory and integers that a bitcast makes or takes, stays raw
// bits, so that a NaN keeps its payload. Register scratch and arithmetic do not preserve payloads.
//
// Transcendental functions of f16 are computed in f32 on every target.
#ifndef TG_PASSES_LEGALIZE_FLOAT_TYPES_H_
#define TG_PASSES_LEGALIZE_FLOAT_TYPES_H_

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/target.h"

namespace tg::legalize {

// Whether LowerFloatTypes may change a body in which some node has type `s`.
bool ConcernsFloatTypes(Scalar s, const passes::Target& target);

// Whether the target does not compute in 16-bit floats of this type, but converts them by
// instructions in inline PTX, from f32 two at a time.
inline bool ConvertsPairs(const passes::Target& target, Scalar s) {
  return (s == Scalar::kF16 || s == Scalar::kBF16) && target.inline_ptx &&
         !passes::ComputesIn(target, s);
}

// Fails if the target cannot express the body: a matrix instruction on such a type, or f64 or
// 64-bit integers on a target without them.
absl::Status LowerFloatTypes(Body& body, const passes::Target& target);

}  // namespace tg::legalize

#endif  // TG_PASSES_LEGALIZE_FLOAT_TYPES_H_
