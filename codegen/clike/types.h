// Scalar types and literals of languages of C's family.
#ifndef TG_CODEGEN_CLIKE_TYPES_H_
#define TG_CODEGEN_CLIKE_TYPES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.h"
#include "llvm/ADT/STLFunctionalExtras.h"

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

// A language's words for types and literals.
struct TypeWords {
  std::string_view i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64;
  std::string_view i64_suffix, u64_suffix;  // of literals
  // The smallest integers, which no literal has: the minus of -2147483648 is an operator.
  std::string_view min_i32, min_i64;
};

// Returns the type of a value: "float". bf16 and fp8 are their bits, an index has 64 bits.
std::string_view ScalarName(const TypeWords& words, Scalar s);
// Returns the element type of a buffer or array. A bool is a byte there.
inline std::string_view MemoryName(const TypeWords& words, Scalar s) {
  return ScalarName(words, s == Scalar::kBool ? Scalar::kU8 : s);
}

// Returns a literal. If `exact`, as for a function's argument or with a vector operand, it has the
// exact type: "(uchar)5"; else "5", which C may treat as an int. Floats are exact to the bit;
// `nan` gives the text for a NaN that has a payload or is no f32.
std::string LiteralOf(const TypeWords& words, Scalar s, int64_t bits, bool exact,
                      llvm::function_ref<std::string()> nan);

// Lanes as hexadecimal digits, by which functions and selectors name them: "0246".
inline constexpr std::string_view kLaneDigits = "0123456789abcdef";
std::string LaneDigits(std::span<const int64_t> lanes);

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_TYPES_H_
