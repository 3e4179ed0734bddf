#include "frontend/tinygrad/scan.h"

#include <charconv>
#include <cstring>

namespace tg::tinygrad {

std::string ScanNumber(const char** at, const char* end, Value* value) {
  const char* const start = *at;
  const char* p = start + (*start == '-');
  bool is_float = false;
  if (end - p >= 3 && (std::memcmp(p, "inf", 3) == 0 || std::memcmp(p, "nan", 3) == 0)) {
    is_float = true;
    p += 3;
  }
  const auto is_exponent = [](char c) { return c == 'e' || c == 'E'; };
  while (p != end && (IsDigit(*p) || *p == '.' || is_exponent(*p) ||
                      ((*p == '-' || *p == '+') && p != start && is_exponent(p[-1])))) {
    is_float |= !IsDigit(*p);
    ++p;
  }
  value->at = start;
  value->size = static_cast<uint32_t>(p - start);
  bool good = true;
  if (is_float) {
    value->kind = Kind::kFloat;
    double real = 0;
    const auto [rest, error] = std::from_chars(start, p, real);
    good = rest == p && error == std::errc();
    value->real = real;
  } else {
    value->kind = Kind::kInt;
    uint64_t number = 0;
    const char* digit = start + (*start == '-');
    good = digit != p;
    for (; digit != p; ++digit) number = number * 10 + static_cast<uint64_t>(*digit - '0');
    value->number = static_cast<int64_t>(*start == '-' ? 0 - number : number);
  }
  *at = p;
  return good ? "" : "'" + std::string(value->text()) + "' is no number";
}

std::string ScanString(const char** at, const char* end, Value* value) {
  const char* const start = *at;
  const char* p = start;
  while (*p != '\'' && *p != '"') ++p;
  const char quote = *p++;
  while (p != end && *p != quote && *p != '\n') {
    const bool escape = *p == '\\' && end - p > 1 && p[1] != '\n';
    p += escape ? 2 : 1;
  }
  if (p == end || *p == '\n') return "the string does not end";
  *at = ++p;
  value->kind = Kind::kString;
  value->at = start;
  value->size = static_cast<uint32_t>(p - start);
  return "";
}

std::string ScanOpaque(const char** at, const char* end, Value* value) {
  const char* const start = *at;
  const char* p = start;
  size_t depth = 0;
  do {
    if (p == end || *p == '\n') return "'<' without its '>'";
    depth += *p == '<' ? 1 : *p == '>' ? SIZE_MAX : 0;
    ++p;
  } while (depth != 0);
  *at = p;
  value->kind = Kind::kOpaque;
  value->at = start;
  value->size = static_cast<uint32_t>(p - start);
  const char* name = start + 1;
  while (IsWord(*name) || *name == '.') ++name;
  if (*name == ':' && name != start + 1) {
    value->kind = Kind::kName;
    value->at = start + 1;
    value->size = static_cast<uint32_t>(name - value->at);
  }
  return "";
}

}  // namespace tg::tinygrad
