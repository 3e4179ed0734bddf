// Structs of tg.h whose size another version of the header may have set.
#ifndef TG_CAPI_STRUCTS_H_
#define TG_CAPI_STRUCTS_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "absl/status/status.h"
#include "base/status.h"

namespace tg::capi {

inline constexpr size_t kMaxStructBytes = 4096;

// `bytes` is what `size` says. A size that no header can have set is an error.
inline absl::Status CheckSize(size_t bytes, std::string_view type) {
  if (bytes >= sizeof(size_t) && bytes <= kMaxStructBytes) return absl::OkStatus();
  return InvalidArgument("the field size of ", type, " is ", bytes, ", not sizeof(", type, ")");
}

// Reads a struct of the caller's: fields that it does not have are zero; fields that this library
// does not know must be. A null pointer is a struct of zeros.
template <typename T>
absl::Status ReadStruct(const T* from, std::string_view type, T& to) {
  to = T{};
  if (from == nullptr) return absl::OkStatus();
  size_t bytes = 0;
  std::memcpy(&bytes, from, sizeof bytes);
  TG_RETURN_IF_ERROR(CheckSize(bytes, type));
  const char* begin = reinterpret_cast<const char*>(from);
  if (bytes > sizeof(T) &&
      std::any_of(begin + sizeof(T), begin + bytes, [](char c) { return c != 0; })) {
    return InvalidArgument(type, " has fields of a newer tg.h, which this library does not know");
  }
  std::memcpy(&to, from, std::min(bytes, sizeof(T)));
  return absl::OkStatus();
}

// Writes those fields of `from` that the caller's struct has. Its size stays.
template <typename T>
absl::Status WriteStruct(const T& from, std::string_view type, T* to) {
  if (to == nullptr) return InvalidArgument("the pointer to ", type, " is null");
  size_t bytes = 0;
  std::memcpy(&bytes, to, sizeof bytes);
  TG_RETURN_IF_ERROR(CheckSize(bytes, type));
  std::memcpy(reinterpret_cast<char*>(to) + sizeof bytes,
              reinterpret_cast<const char*>(&from) + sizeof bytes,
              std::min(bytes, sizeof(T)) - sizeof bytes);
  return absl::OkStatus();
}

}  // namespace tg::capi

#endif  // TG_CAPI_STRUCTS_H_
