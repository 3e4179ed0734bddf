// The arithmetic of narrow float formats in terms of f32 (or f64) and integers: rounding a value to
// a format, and going between such a value and the format's bits. All round to nearest even, once,
// and agree with ir/value.h bit for bit; NaNs stay NaNs and keep what fits of their payload.
#ifndef TG_PASSES_DECOMPOSE_FLOAT_FORMAT_H_
#define TG_PASSES_DECOMPOSE_FLOAT_FORMAT_H_

#include <utility>

#include "ir/builder.h"

namespace tg {

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  // Without infinity (fp8e4m3) the largest pattern is NaN and what is too large becomes NaN.
  bool has_inf;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int min_exponent() const { return 1 - bias(); }
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};
// Of f16, bf16, fp8, f32 and f64.
FloatFormat FormatOf(Scalar s);

// `x`, f32 or f64 in any number of lanes, rounded to a value of format `to`; the type stays.
const UOp* RoundToFormat(Builder& b, const UOp* x, Scalar to);
// The bits, as u32, of `x`, which is f32 and a value of the format.
const UOp* EncodeFloat(Builder& b, const UOp* x, Scalar format);
// The reverse: f32 from u32.
const UOp* DecodeFloat(Builder& b, const UOp* bits, Scalar format);

// An integer as f32 such that rounding to bf16 afterwards rounds the integer once: bits that f32
// has no room for are kept as one that says that there were some.
const UOp* IntToStickyF32(Builder& b, const UOp* x);

}  // namespace tg

#endif  // TG_PASSES_DECOMPOSE_FLOAT_FORMAT_H_
