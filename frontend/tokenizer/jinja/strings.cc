#include "frontend/tokenizer/jinja/strings.h"

#include <utf8proc.h>

#include <algorithm>

#include "frontend/tokenizer/jinja/value.h"
#include "frontend/tokenizer/utf8.h"

namespace tg::jinja {
namespace {

using Code = utf8proc_int32_t;

bool IsSpace(std::string_view character) {
  const uint32_t code = FirstCharacter(character).code;
  return (code >= 9 && code <= 13) || (code >= 0x1C && code <= 0x1F) || code == 0x85 ||
         code == 0x2028 || code == 0x2029 ||
         utf8proc_category(static_cast<Code>(code)) == UTF8PROC_CATEGORY_ZS;
}

bool IsLetter(std::string_view character) {
  const auto category = utf8proc_category(static_cast<Code>(FirstCharacter(character).code));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

void AppendMapped(std::string_view character, Code (*map)(Code), std::string& out) {
  const Utf8Character first = FirstCharacter(character);
  if (first.valid) {
    AppendUtf8(static_cast<uint32_t>(map(static_cast<Code>(first.code))), out);
  } else {
    out += character;
  }
}

std::string Map(std::string_view text, Code (*map)(Code)) {
  std::string out;
  for (const std::string_view character : Characters(text)) AppendMapped(character, map, out);
  return out;
}

std::string_view Joined(std::string_view from, std::string_view to) {
  return {from.data(), static_cast<size_t>(to.data() + to.size() - from.data())};
}

}  // namespace

std::string Lower(std::string_view text) { return Map(text, utf8proc_tolower); }
std::string Upper(std::string_view text) { return Map(text, utf8proc_toupper); }

std::string Capitalize(std::string_view text) {
  if (text.empty()) return "";
  const size_t size = FirstCharacter(text).size;
  return Upper(text.substr(0, size)) + Lower(text.substr(size));
}

std::string Title(std::string_view text) {
  std::string out;
  bool in_word = false;
  for (const std::string_view character : Characters(text)) {
    AppendMapped(character, in_word ? utf8proc_tolower : utf8proc_toupper, out);
    in_word = IsLetter(character);
  }
  return out;
}

std::string_view Strip(std::string_view text, Side side,
                       std::optional<std::string_view> characters) {
  const auto all = Characters(text);
  std::vector<std::string_view> set;
  if (characters) set = Characters(*characters);
  const auto is_stripped = [&](std::string_view character) {
    if (!characters) return IsSpace(character);
    return std::find(set.begin(), set.end(), character) != set.end();
  };
  size_t begin = 0, end = all.size();
  if (side != Side::kRight) {
    while (begin < end && is_stripped(all[begin])) ++begin;
  }
  if (side != Side::kLeft) {
    while (end > begin && is_stripped(all[end - 1])) --end;
  }
  return begin == end ? std::string_view() : Joined(all[begin], all[end - 1]);
}

std::string Replace(std::string_view text, std::string_view from, std::string_view to,
                    int64_t limit) {
  std::string out;
  if (from.empty()) {  // before each character, and at the end
    int64_t count = 0;
    for (const std::string_view character : Characters(text)) {
      if (limit < 0 || count++ < limit) out += to;
      out += character;
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
  const auto all = Characters(text);
  for (size_t i = 0; i < all.size();) {
    while (i < all.size() && IsSpace(all[i])) ++i;
    if (i == all.size()) break;
    const size_t begin = i;
    if (!may_cut()) {
      parts.emplace_back(Strip(Joined(all[begin], all.back()), Side::kRight));
      break;
    }
    while (i < all.size() && !IsSpace(all[i])) ++i;
    parts.emplace_back(Joined(all[begin], all[i - 1]));
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
    const auto all = Characters(text);
    for (size_t end = all.size(); end > 0;) {
      while (end > 0 && IsSpace(all[end - 1])) --end;
      if (end == 0) break;
      if (!may_cut()) {
        parts.emplace_back(Strip(Joined(all[0], all[end - 1]), Side::kLeft));
        break;
      }
      size_t begin = end;
      while (begin > 0 && !IsSpace(all[begin - 1])) --begin;
      parts.emplace_back(Joined(all[begin], all[end - 1]));
      end = begin;
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
