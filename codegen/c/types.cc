#include "codegen/c/types.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_format.h"
#include "base/check.h"
#include "codegen/clike/cat.h"
#include "ir/text/constant.h"
#include "ir/value.h"

namespace tg::c {

using clike::Cat;

namespace {

std::string FloatLiteral(Scalar s, int64_t bits) {
  const double value = DoubleFromBits(s, bits);
  if (value != value) {
    // NAN is the quiet NaN without a payload; others are made of their bits.
    if (s == Scalar::kF32 && bits == 0x7fc00000) return "NAN";
    if (s == Scalar::kF64 && bits == 0x7ff8000000000000) return "(double)NAN";
    if (s == Scalar::kF64) return absl::StrFormat("f64_of_u64(0x%xULL)", bits);
    return absl::StrFormat("f32_of_u32(0x%xu)", bits & 0xffffffff);
  }
  if (value - value != 0) {
    const std::string inf = value < 0 ? "-INFINITY" : "INFINITY";
    return s == Scalar::kF32 ? inf : Cat("(double)", inf);
  }
  std::string text;
  AppendConstant(text, s, bits);
  if (s == Scalar::kF32) text += 'f';
  return text;
}

}  // namespace

std::string_view ScalarType(Scalar s) {
  switch (s) {
    case Scalar::kVoid:
      return "void";
    case Scalar::kBool:
      return "bool";
    case Scalar::kI8:
      return "int8_t";
    case Scalar::kU8:
    case Scalar::kFp8E4M3:
    case Scalar::kFp8E5M2:
      return "uint8_t";
    case Scalar::kI16:
      return "int16_t";
    case Scalar::kU16:
    case Scalar::kF16:
    case Scalar::kBF16:
      return "uint16_t";
    case Scalar::kI32:
      return "int32_t";
    case Scalar::kU32:
      return "uint32_t";
    case Scalar::kI64:
    case Scalar::kIndex:
      return "int64_t";
    case Scalar::kU64:
      return "uint64_t";
    case Scalar::kF32:
      return "float";
    case Scalar::kF64:
      return "double";
  }
  TG_UNREACHABLE();
}

std::string Suffix(Scalar s, int lanes) {
  std::string_view name;
  switch (s) {
    case Scalar::kFp8E4M3:
    case Scalar::kFp8E5M2:
      name = "u8";
      break;
    case Scalar::kF16:
    case Scalar::kBF16:
      name = "u16";
      break;
    case Scalar::kIndex:
      name = "i64";
      break;
    default:
      name = GetScalarInfo(s).text;
  }
  return lanes == 1 ? std::string(name) : Cat(name, "x", lanes);
}

std::string TypeName(Scalar s, int lanes) {
  return lanes == 1 ? std::string(ScalarType(s)) : Suffix(s, lanes);
}

std::string_view MemoryType(Scalar s) { return ScalarType(s == Scalar::kBool ? Scalar::kU8 : s); }

std::string Literal(Scalar s, int64_t bits, bool exact) {
  if (IsFloat(s)) return FloatLiteral(s, bits);
  if (s == Scalar::kBool) return bits ? "true" : "false";
  if (bits == MinValue(s) && s == Scalar::kI32) return "INT32_MIN";
  if (bits == MinValue(s) && (s == Scalar::kI64 || s == Scalar::kIndex)) return "INT64_MIN";
  switch (s) {
    case Scalar::kU32:
      return Cat(bits, "u");
    case Scalar::kU64:
      return Cat(static_cast<uint64_t>(bits), "ULL");
    case Scalar::kI64:
    case Scalar::kIndex:
      return Cat(bits, "LL");
    case Scalar::kI32:
      return Cat(bits);
    default:
      return exact ? Cat("(", ScalarType(s), ")", bits) : Cat(bits);
  }
}

bool IsReservedWord(std::string_view name) {
  static constexpr std::string_view kWords[] = {"linux", "unix",  "i386",   "asm",    "typeof",
                                                "true",  "false", "memory", "memcpy", "read_ahead"};
  if (std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords)) return true;
  // Macros of the standard headers are in capitals; types end in _t.
  const bool is_macro =
      std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (is_macro || name.ends_with("_t")) return true;
  for (std::string_view part : {"gather_", "scatter_", "copy_transposed_", "load_", "store_",
                                "cat_", "half_of_", "_of_", "_from_"}) {
    if (name.find(part) != std::string_view::npos && !name.ends_with("_")) return true;
  }
  // f32x4, u8x16_s01, i32_...: the names of vectors and what begins with them.
  if (name.size() < 2 || std::string_view("fiu").find(name[0]) == std::string_view::npos) {
    return false;
  }
  return name[1] >= '0' && name[1] <= '9' && !name.ends_with("_");
}

std::string LaneLetters(std::span<const int64_t> lanes) {
  std::string out = "s";
  for (int64_t lane : lanes) out += "0123456789abcdef"[lane];
  return out;
}

}  // namespace tg::c
