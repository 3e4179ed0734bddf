#include "codegen/llvm/types.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "ir/value.h"

namespace tg::llvm_ir {
namespace {

std::string ScalarType(Scalar s, bool memory) {
  if (s == Scalar::kBool) return memory ? "i8" : "i1";
  if (s == Scalar::kF32) return "float";
  if (s == Scalar::kF64) return "double";
  TG_CHECK(s != Scalar::kVoid);
  return absl::StrCat("i", s == Scalar::kIndex ? 64 : BitWidth(s));
}

std::string WithLanes(const std::string& type, int lanes) {
  return lanes == 1 ? type : absl::StrCat("<", lanes, " x ", type, ">");
}

}  // namespace

std::string ValueType(Scalar s, int lanes) { return WithLanes(ScalarType(s, false), lanes); }

std::string MemoryType(Scalar s, int lanes) { return WithLanes(ScalarType(s, true), lanes); }

std::string Mangled(Scalar s, int lanes) {
  const std::string one = s == Scalar::kF32   ? "f32"
                          : s == Scalar::kF64 ? "f64"
                                              : ScalarType(s, false);
  return lanes == 1 ? one : absl::StrCat("v", lanes, one);
}

// LLVM writes a float as the double of the same value. The payload of a NaN keeps its position
// below the exponent.
std::string Literal(Scalar s, int64_t bits) {
  if (s == Scalar::kBool) return bits ? "true" : "false";
  if (s == Scalar::kF64) return absl::StrFormat("0x%016x", static_cast<uint64_t>(bits));
  if (s != Scalar::kF32) return absl::StrCat(bits);
  const auto word = static_cast<uint32_t>(bits);
  const auto value = std::bit_cast<float>(word);
  if (value == value) {
    return absl::StrFormat("0x%016x", std::bit_cast<uint64_t>(static_cast<double>(value)));
  }
  const uint64_t sign = word >> 31, payload = word & 0x7fffff;
  return absl::StrFormat("0x%016x", sign << 63 | uint64_t{0x7ff} << 52 | payload << 29);
}

std::string ConstantText(const UOp* u) {
  const Scalar s = u->dtype.scalar();
  if (u->op == Op::kConst) return Literal(s, u->word());
  const std::string type = ScalarType(s, false);
  std::string text;
  for (const int64_t v : u->list()) {
    absl::StrAppend(&text, text.empty() ? "<" : ", ", type, " ", Literal(s, v));
  }
  return text + ">";
}

std::string Everywhere(DType type, int64_t bits) {
  if (type.lanes() == 1) return Literal(type.scalar(), bits);
  if (bits == 0) return "zeroinitializer";
  const std::string one =
      absl::StrCat(ScalarType(type.scalar(), false), " ", Literal(type.scalar(), bits));
  std::string text = "<" + one;
  for (int i = 1; i < type.lanes(); ++i) absl::StrAppend(&text, ", ", one);
  return text + ">";
}

std::string Sequence(int first, int used, int lanes) {
  std::string mask = absl::StrCat("<", lanes, " x i32> <");
  for (int i = 0; i < lanes; ++i) {
    absl::StrAppend(&mask, i ? ", i32 " : "i32 ");
    if (i < used) {
      absl::StrAppend(&mask, first + i);
    } else {
      mask += "undef";
    }
  }
  return mask + ">";
}

}  // namespace tg::llvm_ir
