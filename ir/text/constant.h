// Constants as text. Integers are decimal and bools are words. Floats are the shortest text that
// reads back as the same bits and is not an integer: 1.0, -0.0, 1e-05, inf, nan, nan(0x7fc01234).
#ifndef TG_IR_TEXT_CONSTANT_H_
#define TG_IR_TEXT_CONSTANT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace tg {

void AppendInt(std::string& out, int64_t v);

// `bits` as in ir/value.h. A word that is not a value of its type (a bool 7) is printed as an
// integer.
void AppendConstant(std::string& out, Scalar s, int64_t bits);

// Parses the bits of a constant; returns false, with the reason in `error`, if it is not a value of
// the type. An integer is also a value of a float type that represents it exactly.
bool ParseConstant(Scalar s, std::string_view text, int64_t* bits, std::string* error);

// Whether `bits` is the canonical representation (ir/value.h) of a value of `s`.
bool IsCanonical(Scalar s, int64_t bits);

}  // namespace tg

#endif  // TG_IR_TEXT_CONSTANT_H_
