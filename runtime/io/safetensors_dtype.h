// Safetensors' names of element types.
#ifndef TG_RUNTIME_IO_SAFETENSORS_DTYPE_H_
#define TG_RUNTIME_IO_SAFETENSORS_DTYPE_H_

#include <array>
#include <optional>
#include <string_view>

#include "runtime/io/host_tensor.h"

namespace tg::runtime {

// Indexed by ElementType.
inline constexpr std::array<std::string_view, kNumElementTypes> kSafetensorsDtypes = {
    "BOOL", "I8",  "I16",  "I32", "I64", "U8",      "U16",    "U32",
    "U64",  "F16", "BF16", "F32", "F64", "F8_E4M3", "F8_E5M2"};

inline std::optional<ElementType> ParseSafetensorsDtype(std::string_view name) {
  for (int i = 0; i < kNumElementTypes; ++i) {
    if (kSafetensorsDtypes[i] == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_SAFETENSORS_DTYPE_H_
