#include "ir/text/constant.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/cat.h"
#include "ir/value.h"

namespace tg {
namespace {

int64_t DefaultNan(Scalar s) { return BitsFromDouble(s, std::numeric_limits<double>::quiet_NaN()); }

void AppendHex(std::string& out, uint64_t v) {
  char buffer[16];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, v, 16);
  out.append(buffer, result.ptr);
}

// For types narrower than f32: the fewest digits that identify the value among all values of its
// type. Whole numbers keep all digits (448, not 4.5e+02).
char* NarrowDigits(char* first, char* last, Scalar s, int64_t bits, double v) {
  constexpr double kMaxWhole = 1 << 16;
  if (std::fabs(v) <= kMaxWhole && v == std::trunc(v)) return std::to_chars(first, last, v).ptr;
  char* end = first;
  for (int precision = 1; precision <= 6; ++precision) {
    end = std::to_chars(first, last, v, std::chars_format::general, precision).ptr;
    double back = 0;
    std::from_chars(first, end, back);
    if (BitsFromDouble(s, back) == bits) return end;
  }
  return std::to_chars(first, last, v).ptr;
}

void AppendFloat(std::string& out, Scalar s, int64_t bits) {
  const double v = DoubleFromBits(s, bits);
  if (std::isnan(v)) {
    out += "nan";
    if (bits == DefaultNan(s)) return;
    out += "(0x";
    AppendHex(out, static_cast<uint64_t>(bits));
    out += ')';
    return;
  }
  if (std::isinf(v)) {
    out += v < 0 ? "-inf" : "inf";
    return;
  }
  char buffer[40];
  char* end = buffer;
  if (s == Scalar::kF64) {
    end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  } else if (s == Scalar::kF32) {
    end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v)).ptr;
  } else {
    end = NarrowDigits(buffer, buffer + sizeof buffer, s, bits, v);
  }
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

// Of a text that may be long.
std::string Quoted(std::string_view text) { return Quote(text.substr(0, 60)); }

std::string TypeName(Scalar s) { return std::string(GetScalarInfo(s).text); }

std::string BoundsOf(Scalar s) {
  std::string out = " (" + std::to_string(MinValue(s)) + " to ";
  return out + (s == Scalar::kU64 ? "18446744073709551615" : std::to_string(MaxValue(s))) + ")";
}

bool ParseNanBits(Scalar s, std::string_view text, int64_t* bits, std::string* error) {
  const std::string_view digits = text.substr(6, text.size() - 7);
  uint64_t v = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, code] = std::from_chars(digits.data(), last, v, 16);
  *bits = static_cast<int64_t>(v);
  if (code == std::errc() && end == last && IsCanonical(s, *bits) &&
      std::isnan(DoubleFromBits(s, *bits))) {
    return true;
  }
  *error = Quoted(text) + " is not the bits of a NaN of type " + TypeName(s);
  return false;
}

bool ParseFloat(Scalar s, std::string_view text, int64_t* bits, std::string* error) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (text == "inf" || text == "-inf") {
    if (s == Scalar::kFp8E4M3) {
      *error = "fp8e4m3 has no infinity";
      return false;
    }
    *bits = BitsFromDouble(s, text[0] == '-' ? -infinity : infinity);
    return true;
  }
  if (text == "nan") {
    *bits = DefaultNan(s);
    return true;
  }
  if (text.substr(0, 6) == "nan(0x" && text.back() == ')') {
    return ParseNanBits(s, text, bits, error);
  }
  const char* first = text.data();
  const char* last = first + text.size();
  // from_chars rounds once; the words that it accepts ("infinity") are not part of the format.
  const bool digits = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  std::from_chars_result result{first, std::errc::invalid_argument};
  double v = 0;
  if (digits && s == Scalar::kF32) {
    float f = 0;
    result = std::from_chars(first, last, f);
    *bits = static_cast<int64_t>(std::bit_cast<uint32_t>(f));
    v = f;
  } else if (digits) {
    result = std::from_chars(first, last, v);
    *bits = BitsFromDouble(s, v);
  }
  if (result.ec == std::errc::invalid_argument || result.ptr != last || std::isinf(v)) {
    *error = Quoted(text) + " is not a number of type " + TypeName(s);
    return false;
  }
  const double rounded = DoubleFromBits(s, *bits);
  if (result.ec == std::errc::result_out_of_range || std::isinf(rounded) || std::isnan(rounded)) {
    *error = Quoted(text) + " is out of the range of " + TypeName(s);
    return false;
  }
  if (text.find_first_of(".eE") == std::string_view::npos) {
    // A float type may not hold a long integer exactly.
    int64_t exact = 0;
    const auto parsed = std::from_chars(first, last, exact);
    const bool fits = parsed.ec == std::errc() && std::fabs(rounded) < 0x1p63;
    if (!fits || static_cast<int64_t>(rounded) != exact) {
      *error = Quoted(text) + " is not exactly a value of " + TypeName(s) +
               "; write it as a float (with '.' or 'e') to have it rounded";
      return false;
    }
    if (exact == 0) *bits = 0;
  }
  return true;
}

bool ParseInteger(Scalar s, std::string_view text, int64_t* bits, std::string* error) {
  const char* first = text.data();
  const char* last = first + text.size();
  std::from_chars_result result{};
  if (s == Scalar::kU64) {
    uint64_t v = 0;
    const bool minus = !text.empty() && text[0] == '-';
    result = std::from_chars(first + minus, last, v);
    *bits = static_cast<int64_t>(v);
    if (minus && v != 0 && result.ec == std::errc()) result.ec = std::errc::result_out_of_range;
  } else {
    result = std::from_chars(first, last, *bits);
    if (result.ec == std::errc() && !IsCanonical(s, *bits)) {
      result.ec = std::errc::result_out_of_range;
    }
  }
  if (result.ptr != last || result.ec == std::errc::invalid_argument) {
    *error = Quoted(text) + " is not an integer, and the type is " + TypeName(s);
    return false;
  }
  if (result.ec == std::errc::result_out_of_range) {
    *error = std::string(text.substr(0, 60)) + " does not fit in " + TypeName(s) + BoundsOf(s);
    return false;
  }
  return true;
}

}  // namespace

void AppendInt(std::string& out, int64_t v) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
}

void AppendConstant(std::string& out, Scalar s, int64_t bits) {
  if (IsFloat(s) && IsCanonical(s, bits)) return AppendFloat(out, s, bits);
  if (s == Scalar::kBool && IsCanonical(s, bits)) {
    out += bits ? "true" : "false";
    return;
  }
  if (s == Scalar::kU64) {
    char buffer[24];
    const auto v = static_cast<uint64_t>(bits);
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
    return;
  }
  AppendInt(out, bits);
}

bool ParseConstant(Scalar s, std::string_view text, int64_t* bits, std::string* error) {
  if (s == Scalar::kBool) {
    *bits = text == "true";
    if (text == "true" || text == "false") return true;
    *error = Quoted(text) + " is not true or false, and the type is bool";
    return false;
  }
  if (s == Scalar::kVoid) {
    *error = "a constant cannot be void";
    return false;
  }
  return IsFloat(s) ? ParseFloat(s, text, bits, error) : ParseInteger(s, text, bits, error);
}

bool IsCanonical(Scalar s, int64_t bits) {
  if (s == Scalar::kBool) return bits == 0 || bits == 1;
  if (s == Scalar::kVoid) return false;
  if (IsFloat(s)) {
    const int width = BitWidth(s);
    return width == 64 || (static_cast<uint64_t>(bits) >> width) == 0;
  }
  return WrapInt(s, bits) == bits;
}

}  // namespace tg
