#include "codegen/c/types.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_format.h"
#include "codegen/clike/cat.h"

namespace tg::c {

using clike::Cat;

std::string NanLiteral(Scalar s, int64_t bits) {
  if (s == Scalar::kF64 && bits == 0x7ff8000000000000) return "(double)NAN";
  if (s == Scalar::kF64) return absl::StrFormat("f64_of_u64(0x%xULL)", bits);
  return absl::StrFormat("f32_of_u32(0x%xu)", bits & 0xffffffff);
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

}  // namespace tg::c
