// SentencePiece and WordPiece vocabularies spell a space as U+2581.
#ifndef TG_FRONTEND_TOKENIZER_SPACE_MARK_H_
#define TG_FRONTEND_TOKENIZER_SPACE_MARK_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace tg::tokenizer {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

inline std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (size_t at; (at = text.find(from)) != text.npos; text.remove_prefix(at + from.size())) {
    out.append(text.substr(0, at)).append(to);
  }
  return out.append(text);
}

inline std::string MarkSpaces(std::string_view text) { return ReplaceAll(text, " ", kSpaceMark); }
inline std::string UnmarkSpaces(std::string_view text) { return ReplaceAll(text, kSpaceMark, " "); }

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_SPACE_MARK_H_
