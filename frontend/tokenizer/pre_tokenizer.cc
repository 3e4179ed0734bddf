#define PCRE2_CODE_UNIT_WIDTH 8

#include "frontend/tokenizer/pre_tokenizer.h"

#include <pcre2.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/check.h"
#include "frontend/tokenizer/utf8.h"

namespace tg::tokenizer {
namespace {

// Unicode's White_Space, to be written inside of brackets. PCRE's \s has U+180E as well.
constexpr std::string_view kSpaces =
    R"(\t-\r \x85\xA0\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";

// The pattern with \s and \S written out.
std::string WriteOutSpaces(std::string_view pattern) {
  std::string out;
  bool in_brackets = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's') {
        if (!in_brackets) out += '[';
        out += kSpaces;
        if (!in_brackets) out += ']';
      } else if (next == 'S') {
        TG_CHECK(!in_brackets);
        out.append("[^").append(kSpaces).append("]");
      } else {
        out += c;
        out += next;
      }
      continue;
    }
    if (c == '[') in_brackets = true;
    if (c == ']') in_brackets = false;
    out += c;
  }
  return out;
}

// A range of the text.
struct Range {
  size_t begin;
  size_t size;
};

// Where bytes of a text are in its copy, in which each invalid byte is U+FFFD.
class ValidText {
 public:
  explicit ValidText(std::string_view text) : text_(text) {
    if (IsUtf8(text)) return;
    while (!text.empty()) {
      const Utf8Character character = FirstCharacter(text);
      if (!character.valid) widened_.push_back(copy_.size());
      AppendUtf8(character.code, copy_);
      text.remove_prefix(character.size);
    }
    text_ = copy_;
  }

  std::string_view text() const { return text_; }

  // Lengths in the copy to lengths in the original; called once, in order of the ranges.
  void MapBack(std::vector<Range>& ranges) const {
    constexpr size_t kAdded = 2;  // U+FFFD has three bytes
    size_t begin = 0, next = 0;
    for (Range& range : ranges) {
      const size_t end = range.begin + range.size;
      size_t removed = 0;
      for (; next < widened_.size() && widened_[next] < end; ++next) removed += kAdded;
      range = {begin, range.size - removed};
      begin += range.size;
    }
  }

 private:
  std::string_view text_;
  std::string copy_;
  std::vector<size_t> widened_;  // where the copy has U+FFFD for a byte
};

}  // namespace

class Pattern {
 public:
  explicit Pattern(std::string_view pattern) {
    const std::string text = WriteOutSpaces(pattern);
    int error = 0;
    PCRE2_SIZE at = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                          PCRE2_UTF | PCRE2_UCP, &error, &at, nullptr);
    TG_CHECK(code_ != nullptr);
    // Where there is no just-in-time compiler, matching interprets the pattern.
    (void)pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);
    // PCRE's default limit is too low for long runs of spaces, on which the patterns of the table
    // take linear time.
    context_ = pcre2_match_context_create(nullptr);
    TG_CHECK(context_ != nullptr);
    pcre2_set_match_limit(context_, UINT32_MAX);
  }
  ~Pattern() {
    pcre2_match_context_free(context_);
    pcre2_code_free(code_);
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Cuts each of `words`, which are ranges of `text`, which is UTF-8.
  std::vector<Range> Cut(std::string_view text, const std::vector<Range>& words) const {
    pcre2_match_data* match = pcre2_match_data_create_from_pattern(code_, nullptr);
    TG_CHECK(match != nullptr);
    std::vector<Range> out;
    for (const Range& word : words) CutWord(text, word, match, out);
    pcre2_match_data_free(match);
    return out;
  }

 private:
  void CutWord(std::string_view text, const Range& word, pcre2_match_data* match,
               std::vector<Range>& out) const {
    const auto add = [&](size_t begin, size_t end) {
      if (end > begin) out.push_back({word.begin + begin, end - begin});
    };
    // Lookahead must not see the next word.
    const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data() + word.begin);
    size_t done = 0;
    while (done < word.size) {
      const int found = pcre2_match(code_, subject, word.size, done,
                                    PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, match, context_);
      if (found == PCRE2_ERROR_NOMATCH) break;
      TG_CHECK(found > 0);
      const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match);
      add(done, bounds[0]);
      add(bounds[0], bounds[1]);
      done = bounds[1];
    }
    add(done, word.size);
  }

  pcre2_code* code_;
  pcre2_match_context* context_;
};

PreTokenizer::PreTokenizer(const PreTokenizerRow& row) {
  for (const std::string_view pattern : row.patterns) {
    patterns_.push_back(std::make_unique<const Pattern>(pattern));
  }
}

PreTokenizer::~PreTokenizer() = default;

std::vector<std::string_view> PreTokenizer::Split(std::string_view text) const {
  if (text.empty()) return {};
  const ValidText valid(text);
  std::vector<Range> ranges = {{0, valid.text().size()}};
  for (const auto& pattern : patterns_) ranges = pattern->Cut(valid.text(), ranges);
  valid.MapBack(ranges);
  std::vector<std::string_view> words;
  words.reserve(ranges.size());
  for (const Range& range : ranges) words.push_back(text.substr(range.begin, range.size));
  return words;
}

}  // namespace tg::tokenizer
