// Scanners of single tokens of Python's notation.
#ifndef TG_FRONTEND_TINYGRAD_SCAN_H_
#define TG_FRONTEND_TINYGRAD_SCAN_H_

#include <string>

#include "frontend/tinygrad/syntax.h"

namespace tg::tinygrad {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool IsWord(char c) { return IsWordStart(c) || IsDigit(c); }

// Reads the token at *at, which must not be the end, and advances past it. Returns an error
// message, or an empty string. A token does not span lines.
using ScanFunction = std::string(const char** at, const char* end, Value* value);

ScanFunction ScanNumber;  // 12, -3, 1e-30, -inf, nan
ScanFunction ScanString;  // '...' or "...", with letters in front as in b'...'
ScanFunction ScanOpaque;  // <Ops.ADD: 48>, which is the name Ops.ADD, or <anything>

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_SCAN_H_
