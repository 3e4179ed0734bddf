#include "codegen/opencl/types.h"

#include "absl/strings/str_format.h"
#include "base/check.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/types.h"
#include "ir/text/constant.h"
#include "ir/value.h"

namespace tg::opencl {

using clike::Cat;

namespace {

std::string_view ScalarName(Scalar s) {
  switch (s) {
    case Scalar::kVoid:
      return "void";
    case Scalar::kBool:
      return "bool";
    case Scalar::kI8:
      return "char";
    case Scalar::kU8:
    case Scalar::kFp8E4M3:
    case Scalar::kFp8E5M2:
      return "uchar";
    case Scalar::kI16:
      return "short";
    case Scalar::kU16:
    case Scalar::kBF16:
      return "ushort";
    case Scalar::kI32:
      return "int";
    case Scalar::kU32:
      return "uint";
    case Scalar::kI64:
    case Scalar::kIndex:
      return "long";
    case Scalar::kU64:
      return "ulong";
    case Scalar::kF16:
      return "half";
    case Scalar::kF32:
      return "float";
    case Scalar::kF64:
      return "double";
  }
  TG_UNREACHABLE();
}

std::string WithLanes(Scalar s, int lanes) {
  std::string name(ScalarName(s));
  if (lanes == 1) return name;
  if (lanes == 16) return name += "16";
  if (lanes >= 10) return Cat(name, lanes);
  name += static_cast<char>('0' + lanes);
  return name;
}

std::string FloatLiteral(Scalar s, int64_t bits) {
  const double value = DoubleFromBits(s, bits);
  if (value != value) {
    // NAN is the quiet NaN without a payload.
    if (s == Scalar::kF32 && bits == 0x7fc00000) return "NAN";
    if (s == Scalar::kF64) return absl::StrFormat("as_double(0x%xUL)", bits);
    if (s == Scalar::kF32) return absl::StrFormat("as_float(0x%xu)", bits);
    // as_half is missing in some compilers that have half.
    if (bits == 0x7e00) return "(half)NAN";
    return absl::StrFormat("(half)as_float(0x%xu)", BitsFromDouble(Scalar::kF32, value));
  }
  if (value - value != 0) {
    const std::string inf = value < 0 ? "-INFINITY" : "INFINITY";
    return s == Scalar::kF32 ? inf : Cat("(", ScalarName(s), ")", inf);
  }
  std::string text;
  if (s == Scalar::kF64) {
    AppendConstant(text, s, bits);
    return text;
  }
  AppendConstant(text, Scalar::kF32, BitsFromDouble(Scalar::kF32, value));
  return Cat(s == Scalar::kF16 ? "(half)" : "", text, "f");
}

}  // namespace

std::string ValueType(Scalar s, int lanes) { return WithLanes(s, lanes); }

std::string MaskType(int bits, int lanes) { return WithLanes(clike::IntOfSize(bits, true), lanes); }

std::string_view MemoryType(Scalar s) { return ScalarName(s == Scalar::kBool ? Scalar::kU8 : s); }

std::string_view SpacePrefix(AddrSpace space) {
  switch (space) {
    case AddrSpace::kGlobal:
      return "__global ";
    case AddrSpace::kLocal:
      return "__local ";
    case AddrSpace::kPrivate:
    case AddrSpace::kReg:
      return "";
  }
  TG_UNREACHABLE();
}

std::string Literal(Scalar s, int64_t bits, bool exact) {
  if (IsFloat(s)) return FloatLiteral(s, bits);
  if (s == Scalar::kBool) return bits ? "true" : "false";
  if (bits == MinValue(s) && s == Scalar::kI32) return "INT_MIN";
  if (bits == MinValue(s) && (s == Scalar::kI64 || s == Scalar::kIndex)) return "LONG_MIN";
  switch (s) {
    case Scalar::kU32:
      return Cat(bits, "u");
    case Scalar::kU64:
      return Cat(static_cast<uint64_t>(bits), "UL");
    case Scalar::kI64:
    case Scalar::kIndex:
      return Cat(bits, "L");
    case Scalar::kI32:
      return Cat(bits);
    default:
      return exact ? Cat("(", ScalarName(s), ")", bits) : Cat(bits);
  }
}

}  // namespace tg::opencl
