#include "runtime/opencl/source_functions.h"

#include <algorithm>
#include <set>

namespace tg::runtime {
namespace {

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether `word` occurs in the text as a whole identifier.
bool HasWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsWordCharacter(text[at - 1])) &&
        (end == text.size() || !IsWordCharacter(text[end]))) {
      return true;
    }
  }
  return false;
}

size_t MatchingParenthesis(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

// The word before the first parenthesis that is not an attribute's.
std::string_view NameIn(std::string_view signature) {
  size_t open = signature.find('(');
  while (open != std::string_view::npos) {
    size_t end = open;
    while (end > 0 && signature[end - 1] == ' ') --end;
    size_t begin = end;
    while (begin > 0 && IsWordCharacter(signature[begin - 1])) --begin;
    const std::string_view word = signature.substr(begin, end - begin);
    if (word != "__attribute__") return word;
    const size_t close = MatchingParenthesis(signature, open);
    if (close == std::string_view::npos) break;
    open = signature.find('(', close);
  }
  return {};
}

}  // namespace

std::vector<SourceFunction> FunctionsIn(std::string_view source) {
  std::vector<SourceFunction> functions;
  size_t signature = 0, open = 0;
  int depth = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const bool starts_line = i == 0 || source[i - 1] == '\n';
    if (source.substr(i, 2) == "//" || (starts_line && source[i] == '#')) {
      i = std::min(source.find('\n', i), source.size());
      if (depth == 0) signature = i;
    } else if (source[i] == ';' && depth == 0) {
      signature = i + 1;
    } else if (source[i] == '{' && depth++ == 0) {
      open = i;
    } else if (source[i] == '}' && depth > 0 && --depth == 0) {
      const std::string_view head = source.substr(signature, open - signature);
      functions.push_back({.name = NameIn(head),
                           .body = source.substr(open, i + 1 - open),
                           .is_kernel = HasWord(head, "__kernel"),
                           .end = i + 1});
      signature = i + 1;
    }
  }
  return functions;
}

const SourceFunction* FunctionAt(const std::vector<SourceFunction>& functions, size_t offset) {
  for (const SourceFunction& f : functions) {
    if (offset < f.end) return &f;
  }
  return nullptr;
}

const SourceFunction* KernelThatUses(const std::vector<SourceFunction>& functions,
                                     const SourceFunction& function) {
  // Functions are declared before they are called, so one pass in order finds all callers.
  std::set<std::string_view> names = {function.name};
  if (function.is_kernel) return &function;
  if (function.name.empty()) return nullptr;
  for (const SourceFunction& f : functions) {
    const bool calls = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return f.name != name && HasWord(f.body, name);
    });
    if (!calls) continue;
    if (f.is_kernel) return &f;
    if (!f.name.empty()) names.insert(f.name);
  }
  return nullptr;
}

}  // namespace tg::runtime
