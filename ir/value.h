// The bits of a constant, in the format of its scalar type.
//
// One 64-bit word a constant: integers sign- or zero-extended, index as int64, bool as 0 or 1,
// floats as their bit pattern (an f16 in the low 16 bits). All conversions to floats round to
// nearest even, once, from the exact value.
#ifndef TG_IR_VALUE_H_
#define TG_IR_VALUE_H_

#include <cstdint>

#include "ir/dtype.h"

namespace tg {

// The bits of `v` converted to `s` as the op `cast` does from f64.
int64_t BitsFromDouble(Scalar s, double v);
// The bits of integer `v` converted to `s`: wraps to an integer type, rounds to a float type.
int64_t BitsFromInt(Scalar s, int64_t v);
// The same for a value that is unsigned (u64 to float differs).
int64_t BitsFromUnsigned(Scalar s, uint64_t v);

// The exact value of a float constant; also converts integers (rounded above 2^53).
double DoubleFromBits(Scalar s, int64_t bits);
// The value of an integer, index or bool constant.
inline int64_t IntFromBits(int64_t bits) { return bits; }

// op `cast` of one lane.
int64_t CastBits(Scalar from, Scalar to, int64_t bits);
// op `bitcast` of one lane: the scalars have one size.
int64_t BitcastBits(Scalar from, Scalar to, int64_t bits);

// Truncates an integer to the type's bits and extends it again, as arithmetic that wraps does.
int64_t WrapInt(Scalar s, int64_t v);

// The least and the greatest value of a type, which are the identities of max and min.
int64_t MinValue(Scalar s);  // -inf for floats (fp8e4m3 has none: its smallest number)
int64_t MaxValue(Scalar s);  // +inf for floats (fp8e4m3: its greatest number)

}  // namespace tg

#endif  // TG_IR_VALUE_H_
