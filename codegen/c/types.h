// C's names for types, and literals.
//
// Values: bool; int8_t to uint64_t; float, double; of vectors f32x8, i16x4. A vector of bools is a
// mask: a vector of signed integers 0 and -1, as wide as the compared elements. Memory: a bool is a
// uint8_t; halves, bf16 and fp8 are their bits.
#ifndef TG_CODEGEN_C_TYPES_H_
#define TG_CODEGEN_C_TYPES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "codegen/clike/types.h"
#include "ir/dtype.h"

namespace tg::c {

inline constexpr clike::TypeWords kWords = {.i8 = "int8_t",
                                            .u8 = "uint8_t",
                                            .i16 = "int16_t",
                                            .u16 = "uint16_t",
                                            .i32 = "int32_t",
                                            .u32 = "uint32_t",
                                            .i64 = "int64_t",
                                            .u64 = "uint64_t",
                                            .f16 = "uint16_t",
                                            .f32 = "float",
                                            .f64 = "double",
                                            .i64_suffix = "LL",
                                            .u64_suffix = "ULL",
                                            .min_i32 = "INT32_MIN",
                                            .min_i64 = "INT64_MIN"};

inline std::string_view ScalarType(Scalar s) { return clike::ScalarName(kWords, s); }  // "float"
inline std::string_view MemoryType(Scalar s) { return clike::MemoryName(kWords, s); }
std::string TypeName(Scalar s, int lanes);  // "float", "f32x4"
std::string Suffix(Scalar s, int lanes);    // "f32", "f32x4": the last part of functions' names
// Returns the NaN of these bits: a macro, or a function of the prelude (BitsAs).
std::string NanLiteral(Scalar s, int64_t bits);
// Returns whether a variable must not have this name: macros of the standard headers, names of a
// unit's own. Keywords and functions of ops are others.
bool IsReservedWord(std::string_view name);

}  // namespace tg::c

#endif  // TG_CODEGEN_C_TYPES_H_
