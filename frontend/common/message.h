// Messages made of the standard library's strings: absl::StrCat of Debian's Abseil takes no
// std::string_view.
#ifndef TG_FRONTEND_COMMON_MESSAGE_H_
#define TG_FRONTEND_COMMON_MESSAGE_H_

#include <concepts>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tg::frontend {

inline void AppendPart(std::string& out, std::string_view part) { out += part; }
template <std::integral T>
void AppendPart(std::string& out, T part) {
  out += std::to_string(part);
}

// Concatenates strings and integers.
template <typename... Parts>
std::string Message(const Parts&... parts) {
  std::string out;
  (AppendPart(out, parts), ...);
  return out;
}

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(Message(parts...));
}

}  // namespace tg::frontend

#endif  // TG_FRONTEND_COMMON_MESSAGE_H_
