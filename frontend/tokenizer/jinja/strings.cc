#include "frontend/tokenizer/jinja/strings.h"

#include <utf8proc.h>

#include <algorithm>

#include "frontend/tokenizer/jinja/value.h"
#include "frontend/tokenizer/utf8.h"

namespace tg::jinja {
namespace {

using Code = utf8proc_int32_t;

bool IsSpace(std::string_view character) {
  const uint32_t code = tokenizer::FirstCharacter(character).code;
  return (code >= 9 && code <= 13) || (code >= 0x1C && code <= 0x1F) || code == 0x85 ||
         code == 0x2028 || code == 0x2029 ||
         utf8proc_category(static_cast<Code>(code)) == UTF8PROC_CATEGORY_ZS;
}

bool IsLetter(std::string_view character) {
  const auto category =
      utf8proc_category(static_cast<Code>(tokenizer::FirstCharacter(character).code));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

std::string_view TakeFirst(std::string_view& text) {
  const std::string_view character = text.substr(0, tokenizer::FirstCharacter(text).size);
  text.remove_prefix(character.size());
  return character;
}

// The last character of a text that is not empty.
std::string_view LastCharacter(std::string_view text) {
  for (size_t size = 2; size <= std::min<size_t>(text.size(), 4); ++size) {
    const std::string_view end = text.substr(text.size() - size);
    const tokenizer::Utf8Character first = tokenizer::FirstCharacter(end);
    if (first.valid && first.size == size) return end;
  }
  return text.substr(text.size() - 1);
}

// Removes leading white space; if `spaces` is false, leading characters other than white space.
std::string_view SkipLeft(std::string_view text, bool spaces) {
  while (!text.empty() && IsSpace(text) == spaces) TakeFirst(text);
  return text;
}

std::string_view SkipRight(std::string_view text, bool spaces) {
  while (!text.empty()) {
    const std::string_view last = LastCharacter(text);
    if (IsSpace(last) != spaces) break;
    text.remove_suffix(last.size());
  }
  return text;
}

void AppendMapped(std::string_view character, Code (*map)(Code), std::string& out) {
  const tokenizer::Utf8Character first = tokenizer::FirstCharacter(character);
  if (first.valid) {
    tokenizer::AppendUtf8(static_cast<uint32_t>(map(static_cast<Code>(first.code))), out);
  } else {
    out += character;
  }
}

std::string Map(std::string_view text, Code (*map)(Code)) {
  std::string out;
  while (!text.empty()) AppendMapped(TakeFirst(text), map, out);
  return out;
}

}  // namespace

std::string Lower(std::string_view text) { return Map(text, utf8proc_tolower); }
std::string Upper(std::string_view text) { return Map(text, utf8proc_toupper); }

std::string Capitalize(std::string_view text) {
  if (text.empty()) return "";
  const size_t size = tokenizer::FirstCharacter(text).size;
  return Upper(text.substr(0, size)) + Lower(text.substr(size));
}

std::string Title(std::string_view text) {
  std::string out;
  bool in_word = false;
  while (!text.empty()) {
    const std::string_view character = TakeFirst(text);
    AppendMapped(character, in_word ? utf8proc_tolower : utf8proc_toupper, out);
    in_word = IsLetter(character);
  }
  return out;
}

std::string_view Strip(std::string_view text, Side side,
                       std::optional<std::string_view> characters) {
  std::vector<std::string_view> set;
  if (characters) set = Characters(*characters);
  const auto is_stripped = [&](std::string_view character) {
    if (!characters) return IsSpace(character);
    return std::find(set.begin(), set.end(), character) != set.end();
  };
  while (side != Side::kRight && !text.empty()) {
    const size_t size = tokenizer::FirstCharacter(text).size;
    if (!is_stripped(text.substr(0, size))) break;
    text.remove_prefix(size);
  }
  while (side != Side::kLeft && !text.empty()) {
    const std::string_view last = LastCharacter(text);
    if (!is_stripped(last)) break;
    text.remove_suffix(last.size());
  }
  return text;
}

std::string Replace(std::string_view text, std::string_view from, std::string_view to,
                    int64_t limit) {
  std::string out;
  if (from.empty()) {  // before each character, and at the end
    int64_t count = 0;
    while (!text.empty()) {
      if (limit < 0 || count++ < limit) out += to;
      out += TakeFirst(text);
    }
    if (limit < 0 || count < limit) out += to;
    return out;
  }
  size_t at = 0;
  for (int64_t count = 0; limit < 0 || count < limit; ++count) {
    const size_t found = text.find(from, at);
    if (found == text.npos) break;
    out.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
  }
  return out.append(text.substr(at));
}

std::vector<std::string> Split(std::string_view text, std::optional<std::string_view> separator,
                               int64_t limit) {
  std::vector<std::string> parts;
  const auto may_cut = [&] { return limit < 0 || static_cast<int64_t>(parts.size()) < limit; };
  if (separator) {
    for (size_t found; may_cut() && (found = text.find(*separator)) != text.npos;) {
      parts.emplace_back(text.substr(0, found));
      text.remove_prefix(found + separator->size());
    }
    parts.emplace_back(text);
    return parts;
  }
  for (text = SkipLeft(text, true); !text.empty(); text = SkipLeft(text, true)) {
    const bool cuts = may_cut();
    const std::string_view rest = cuts ? SkipLeft(text, false) : std::string_view();
    const std::string_view part = text.substr(0, text.size() - rest.size());
    parts.emplace_back(cuts ? part : SkipRight(part, true));
    text = rest;
  }
  return parts;
}

std::vector<std::string> SplitFromRight(std::string_view text,
                                        std::optional<std::string_view> separator, int64_t limit) {
  std::vector<std::string> parts;
  const auto may_cut = [&] { return limit < 0 || static_cast<int64_t>(parts.size()) < limit; };
  if (separator) {
    for (size_t found; may_cut() && (found = text.rfind(*separator)) != text.npos;) {
      parts.emplace_back(text.substr(found + separator->size()));
      text = text.substr(0, found);
    }
    parts.emplace_back(text);
  } else {
    for (text = SkipRight(text, true); !text.empty(); text = SkipRight(text, true)) {
      const bool cuts = may_cut();
      const std::string_view rest = cuts ? SkipRight(text, false) : std::string_view();
      const std::string_view part = text.substr(rest.size());
      parts.emplace_back(cuts ? part : SkipLeft(part, true));
      text = rest;
    }
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string> SplitLines(std::string_view text, bool keep_ends) {
  constexpr std::string_view kEnds = "\n\r\v\f\x1C\x1D\x1E";
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kEnds), text.size());
    size_t size = std::min(end + 1, text.size());
    if (text.substr(end, 2) == "\r\n") ++size;
    lines.emplace_back(text.substr(0, keep_ends ? size : end));
    text.remove_prefix(size);
  }
  return lines;
}

}  // namespace tg::jinja
