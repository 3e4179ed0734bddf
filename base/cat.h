// Texts made of the standard library's strings and numbers.
//
// Debian's Abseil has a separate string_view type, to which std::string_view does not convert, so
// that absl::StrCat does not take one.
#ifndef TG_BASE_CAT_H_
#define TG_BASE_CAT_H_

#include <concepts>
#include <string>
#include <string_view>

namespace tg {

inline void AppendPart(std::string& out, std::string_view part) { out += part; }
inline void AppendPart(std::string& out, char part) { out += part; }
template <std::integral T>
requires(!std::same_as<T, char> && !std::same_as<T, bool>) void AppendPart(std::string& out,
                                                                           T part) {
  out += std::to_string(part);
}

// Concatenates strings, characters and integers (in decimal).
template <typename... Parts>
std::string Cat(const Parts&... parts) {
  std::string out;
  (AppendPart(out, parts), ...);
  return out;
}

// `text` between single quotes.
inline std::string Quote(std::string_view text) { return Cat('\'', text, '\''); }

}  // namespace tg

#endif  // TG_BASE_CAT_H_
