// Constants as text. Integers in decimal, bools as words, floats as the shortest text that reads
// back as the same bits and is visibly no integer: 1.0, -0.0, 1e-05, inf, nan, nan(0x7fc01234).
#ifndef TG_IR_TEXT_CONSTANT_H_
#define TG_IR_TEXT_CONSTANT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace tg {

void AppendInt(std::string& out, int64_t v);

// `bits` as in ir/value.h. A word that is no value of its type (a bool 7) is printed as an integer.
void AppendConstant(std::string& out, Scalar s, int64_t bits);

// The bits of a constant, or false and why not. An integer is a value of a float type too, when it
// stands for it exactly.
bool ParseConstant(Scalar s, std::string_view text, int64_t* bits, std::string* error);

// Whether `bits` is how ir/value.h writes a value of `s`.
bool IsCanonical(Scalar s, int64_t bits);

}  // namespace tg

#endif  // TG_IR_TEXT_CONSTANT_H_
