// Python's functions of strings, on UTF-8.
#ifndef TG_FRONTEND_TOKENIZER_JINJA_STRINGS_H_
#define TG_FRONTEND_TOKENIZER_JINJA_STRINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tg::jinja {

std::string Lower(std::string_view text);
std::string Upper(std::string_view text);
// The first character upper case, the others lower case.
std::string Capitalize(std::string_view text);
// Each word so.
std::string Title(std::string_view text);

enum class Side { kLeft, kRight, kBoth };
// Without the characters of `characters`, or white space if there is none, at its sides.
std::string_view Strip(std::string_view text, Side side,
                       std::optional<std::string_view> characters = std::nullopt);

// At most `limit` replacements, if that is not negative.
std::string Replace(std::string_view text, std::string_view from, std::string_view to,
                    int64_t limit = -1);

// Splits the text at `separator`, which is not empty, or at white space if there is no separator;
// at most `limit` times if `limit` is not negative.
std::vector<std::string> Split(std::string_view text, std::optional<std::string_view> separator,
                               int64_t limit);
std::vector<std::string> SplitFromRight(std::string_view text,
                                        std::optional<std::string_view> separator, int64_t limit);
std::vector<std::string> SplitLines(std::string_view text, bool keep_ends);

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_JINJA_STRINGS_H_
