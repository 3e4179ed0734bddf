// C's names for types, and literals.
//
// Values: bool; int8_t to uint64_t; float, double; of vectors f32x8, i16x4. A vector of bools is a
// mask: a vector of signed integers 0 and -1, as wide as the compared elements. Memory: a bool is a
// uint8_t; halves, bf16 and fp8 are their bits.
#ifndef TG_CODEGEN_C_TYPES_H_
#define TG_CODEGEN_C_TYPES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace tg::c {

std::string_view ScalarType(Scalar s);      // "float"
std::string TypeName(Scalar s, int lanes);  // "float", "f32x4"
std::string_view MemoryType(Scalar s);      // "uint8_t" for a bool
std::string Suffix(Scalar s, int lanes);    // "f32", "f32x4": the last part of functions' names
std::string Literal(Scalar s, int64_t bits, bool exact);
// Returns whether a variable must not have this name: macros of the standard headers, names of a
// unit's own. Keywords and functions of ops are others.
bool IsReservedWord(std::string_view name);
// Returns the suffix for a choice of lanes: "s0246" for {0, 2, 4, 6}.
std::string LaneLetters(std::span<const int64_t> lanes);

}  // namespace tg::c

#endif  // TG_CODEGEN_C_TYPES_H_
