#include "codegen/clike/spelling.h"

namespace tg::clike {

bool SpellingTable::IsSpelled(std::string_view name) const {
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (const Spelling& row : rows_) {
    const std::string_view text = row.text;
    for (size_t i = 0; i < text.size(); ++i) {
      if (!in_name(text[i])) continue;
      const size_t begin = i;
      while (i < text.size() && in_name(text[i])) ++i;
      const std::string_view word = text.substr(begin, i - begin);
      if (begin > 0 && text[begin - 1] == '$') continue;
      // A type's name replaces `$=`, and it does not end in an underscore.
      const bool typed = text.substr(i, 2) == "$=";
      if (typed ? name.starts_with(word) && name.size() > word.size() && !name.ends_with("_")
                : name == word) {
        return true;
      }
    }
  }
  return false;
}

void FillIn(Text& out, const Spelling& row,
            llvm::function_ref<void(int i, int precedence)> append) {
  size_t at = 0;
  for (const Placeholder& p : row.used()) {
    out.Add(row.text.substr(at, p.begin - at));
    append(p.operand, p.required);
    at = p.end;
  }
  out.Add(row.text.substr(at));
}

}  // namespace tg::clike
