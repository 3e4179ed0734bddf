// Scalar types by their size.
#ifndef TG_CODEGEN_CLIKE_TYPES_H_
#define TG_CODEGEN_CLIKE_TYPES_H_

#include "ir/dtype.h"

namespace tg::clike {

inline Scalar IntOfSize(int bits, bool is_signed) {
  switch (bits) {
    case 8:
      return is_signed ? Scalar::kI8 : Scalar::kU8;
    case 16:
      return is_signed ? Scalar::kI16 : Scalar::kU16;
    case 32:
      return is_signed ? Scalar::kI32 : Scalar::kU32;
    default:
      return is_signed ? Scalar::kI64 : Scalar::kU64;
  }
}

// Returns the unsigned integer type of the same size.
inline Scalar UnsignedOf(Scalar s) { return IntOfSize(BitWidth(s), false); }

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_TYPES_H_
