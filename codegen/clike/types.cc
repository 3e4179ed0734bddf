#include "codegen/clike/types.h"

#include "base/check.h"
#include "codegen/clike/cat.h"
#include "ir/text/constant.h"
#include "ir/value.h"

namespace tg::clike {

std::string_view ScalarName(const TypeWords& words, Scalar s) {
  switch (s) {
    case Scalar::kVoid:
      return "void";
    case Scalar::kBool:
      return "bool";
    case Scalar::kI8:
      return words.i8;
    case Scalar::kU8:
    case Scalar::kFp8E4M3:
    case Scalar::kFp8E5M2:
      return words.u8;
    case Scalar::kI16:
      return words.i16;
    case Scalar::kU16:
    case Scalar::kBF16:
      return words.u16;
    case Scalar::kI32:
      return words.i32;
    case Scalar::kU32:
      return words.u32;
    case Scalar::kI64:
    case Scalar::kIndex:
      return words.i64;
    case Scalar::kU64:
      return words.u64;
    case Scalar::kF16:
      return words.f16;
    case Scalar::kF32:
      return words.f32;
    case Scalar::kF64:
      return words.f64;
  }
  TG_UNREACHABLE();
}

namespace {

std::string FloatLiteral(const TypeWords& words, Scalar s, int64_t bits,
                         llvm::function_ref<std::string()> nan) {
  const double value = DoubleFromBits(s, bits);
  if (value != value) {
    // NAN is the quiet NaN without a payload.
    return s == Scalar::kF32 && bits == 0x7fc00000 ? "NAN" : nan();
  }
  if (value - value != 0) {
    const std::string inf = value < 0 ? "-INFINITY" : "INFINITY";
    return s == Scalar::kF32 ? inf : Cat("(", ScalarName(words, s), ")", inf);
  }
  std::string text;
  if (s == Scalar::kF64) {
    AppendConstant(text, s, bits);
    return text;
  }
  AppendConstant(text, Scalar::kF32, BitsFromDouble(Scalar::kF32, value));
  text += 'f';
  return s == Scalar::kF32 ? text : Cat("(", ScalarName(words, s), ")", text);
}

}  // namespace

std::string LiteralOf(const TypeWords& words, Scalar s, int64_t bits, bool exact,
                      llvm::function_ref<std::string()> nan) {
  if (IsFloat(s)) return FloatLiteral(words, s, bits, nan);
  if (s == Scalar::kBool) return bits ? "true" : "false";
  if (s == Scalar::kI32) return bits == MinValue(s) ? std::string(words.min_i32) : Cat(bits);
  if (s == Scalar::kU32) return Cat(bits, "u");
  if (s == Scalar::kU64) return Cat(static_cast<uint64_t>(bits), words.u64_suffix);
  if (s == Scalar::kI64 || s == Scalar::kIndex) {
    return bits == MinValue(s) ? std::string(words.min_i64) : Cat(bits, words.i64_suffix);
  }
  return exact ? Cat("(", ScalarName(words, s), ")", bits) : Cat(bits);
}

std::string LaneDigits(std::span<const int64_t> lanes) {
  std::string out;
  for (const int64_t lane : lanes) out += kLaneDigits[static_cast<size_t>(lane)];
  return out;
}

}  // namespace tg::clike
