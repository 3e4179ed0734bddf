// Narrow float formats in terms of f32 (or f64) and integers: rounding a value to a format, and
// conversion between such a value and the format's bits. Rounding is to nearest even, and each
// result agrees with ir/value.h bit for bit; NaNs stay NaNs and keep the payload bits that fit.
#ifndef TG_PASSES_LEGALIZE_FLOAT_ENCODING_H_
#define TG_PASSES_LEGALIZE_FLOAT_ENCODING_H_

#include "ir/builder.h"

namespace tg::legalize {

// `x`, f32 or f64 in any number of lanes, rounded to a value of format `to`; the type stays.
const UOp* RoundToFormat(Builder& b, const UOp* x, Scalar to);
// The bits, as u32, of `x`, which is f32 and a value of the format.
const UOp* EncodeFloat(Builder& b, const UOp* x, Scalar format);
// The f32 value of these bits of the format, given as u32.
const UOp* DecodeFloat(Builder& b, const UOp* bits, Scalar format);

// Converts an integer to f32 such that rounding to bf16 afterwards rounds the integer only once:
// the bits that do not fit in f32 are combined into a sticky bit.
const UOp* IntToStickyF32(Builder& b, const UOp* x);

}  // namespace tg::legalize

#endif  // TG_PASSES_LEGALIZE_FLOAT_ENCODING_H_
