#include "frontend/tokenizer/jinja/lexer.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/utf8.h"

namespace tg::jinja {
namespace {

bool IsNameStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsNameCharacter(char c) { return IsNameStart(c) || absl::ascii_isdigit(c); }

size_t SkipSpaces(std::string_view text, size_t at) {
  while (at < text.size() && absl::ascii_isspace(text[at])) ++at;
  return at;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Token>> Run() {
    while (status_.ok() && at_ < text_.size()) LexText();
    if (!status_.ok()) return status_;
    Add(TokenKind::kEnd, "", text_.size());
    return std::move(tokens_);
  }

 private:
  void Fail(size_t position, std::string_view message) {
    if (status_.ok()) status_ = ErrorAt(text_, position, message);
  }

  void Add(TokenKind kind, std::string text, size_t position) {
    tokens_.push_back({kind, std::move(text), position});
  }

  // Text up to the next braces, and what is in them.
  void LexText() {
    size_t open = at_;
    while ((open = text_.find('{', open)) != text_.npos) {
      if (open + 1 < text_.size() && std::string_view("{%#").find(text_[open + 1]) != text_.npos)
        break;
      ++open;
    }
    const size_t begin = at_;
    const size_t end = std::min(open, text_.size());
    std::string_view text = text_.substr(begin, end - begin);
    const bool starts_line = starts_line_;
    if (end == text_.size()) {
      AddText(text, begin);
      at_ = end;
      return;
    }
    const char type = text_[end + 1];
    const char sign = end + 2 < text_.size() ? text_[end + 2] : '\0';
    if (sign == '-') {
      while (!text.empty() && absl::ascii_isspace(text.back())) text.remove_suffix(1);
    } else if (type != '{' && sign != '+') {
      const size_t line = text.rfind('\n') + 1;  // 0 if there is none
      const bool blank = std::all_of(text.begin() + line, text.end(), absl::ascii_isspace);
      if (blank && (line > 0 || starts_line)) text = text.substr(0, line);
    }
    AddText(text, begin);
    at_ = end + 2;
    if (sign == '-' || (sign == '+' && type != '{')) ++at_;
    if (type == '#') {
      LexComment(end);
    } else if (type == '{') {
      Add(TokenKind::kBeginOutput, "", end);
      LexCode(end, '}');
    } else if (!LexRaw()) {
      Add(TokenKind::kBeginBlock, "", end);
      LexCode(end, '%');
    }
  }

  void AddText(std::string_view text, size_t position) {
    if (!text.empty()) Add(TokenKind::kText, std::string(text), position);
  }

  // If closing braces are at `at` ("-%}" with the space after it, "+%}", or "%}" with the end of
  // the line), moves past them and returns true.
  bool TakeEnd(size_t at, char type) {
    size_t brace = at;
    const char sign = brace < text_.size() ? text_[brace] : '\0';
    if (sign == '-' || (sign == '+' && type != '}')) ++brace;
    if (brace + 1 >= text_.size() || text_[brace] != type || text_[brace + 1] != '}') return false;
    const size_t begin = brace;
    brace += 2;
    if (sign == '-') {
      brace = SkipSpaces(text_, brace);
    } else if (sign != '+' && type != '}' && brace < text_.size() && text_[brace] == '\n') {
      ++brace;
    }
    at_ = brace;
    starts_line_ = at_ > begin + 2 && text_[at_ - 1] == '\n';
    return true;
  }

  void LexComment(size_t open) {
    for (size_t at = at_; at < text_.size(); ++at) {
      if (TakeEnd(at, '#')) return;
    }
    Fail(open, "the comment does not end");
  }

  // {% raw %}, after its opening brace.
  bool LexRaw() {
    size_t at = SkipSpaces(text_, at_);
    if (text_.substr(at, 3) != "raw") return false;
    at = SkipSpaces(text_, at + 3);
    const size_t open = at_ - 2;
    if (!TakeEnd(at, '%')) return false;
    const size_t begin = at_;
    for (size_t brace = begin; (brace = text_.find("{%", brace)) != text_.npos; brace += 2) {
      const bool strips = brace + 2 < text_.size() && text_[brace + 2] == '-';
      const bool keeps = brace + 2 < text_.size() && text_[brace + 2] == '+';
      const size_t word = SkipSpaces(text_, brace + 2 + (strips || keeps));
      if (text_.substr(word, 6) != "endraw") continue;
      if (!TakeEnd(SkipSpaces(text_, word + 6), '%')) continue;
      std::string_view text = text_.substr(begin, brace - begin);
      if (strips) {
        while (!text.empty() && absl::ascii_isspace(text.back())) text.remove_suffix(1);
      } else if (!keeps) {
        const size_t line = text.rfind('\n') + 1;
        const bool blank = std::all_of(text.begin() + line, text.end(), absl::ascii_isspace);
        if (blank && line > 0) text = text.substr(0, line);
      }
      AddText(text, begin);
      return true;
    }
    Fail(open, "{% raw %} does not end");
    return true;
  }

  // Up to "}}" or "%}" outside of brackets.
  void LexCode(size_t open, char type) {
    int brackets = 0;
    while (status_.ok()) {
      at_ = SkipSpaces(text_, at_);
      const size_t position = at_;
      if (brackets == 0 && TakeEnd(at_, type)) {
        Add(type == '}' ? TokenKind::kEndOutput : TokenKind::kEndBlock, "", position);
        return;
      }
      if (at_ >= text_.size()) return Fail(open, "the braces do not close");
      const char c = text_[at_];
      if (IsNameStart(c)) {
        while (at_ < text_.size() && IsNameCharacter(text_[at_])) ++at_;
        Add(TokenKind::kName, std::string(text_.substr(position, at_ - position)), position);
      } else if (absl::ascii_isdigit(c)) {
        LexNumber();
      } else if (c == '"' || c == '\'') {
        LexString(c);
      } else {
        LexOperator();
        const std::string& text = tokens_.back().text;
        if (text == "(" || text == "[" || text == "{") ++brackets;
        if ((text == ")" || text == "]" || text == "}") && --brackets < 0) {
          return Fail(position, absl::StrCat("'", text, "' closes nothing"));
        }
      }
    }
  }

  void LexNumber() {
    const size_t begin = at_;
    std::string digits;
    const auto take_digits = [&] {
      while (at_ < text_.size() && (absl::ascii_isdigit(text_[at_]) || text_[at_] == '_')) {
        if (text_[at_] != '_') digits += text_[at_];
        ++at_;
      }
    };
    const auto digit_at = [&](size_t at) {
      return at < text_.size() && absl::ascii_isdigit(text_[at]);
    };
    take_digits();
    TokenKind kind = TokenKind::kInteger;
    if (at_ < text_.size() && text_[at_] == '.' && digit_at(at_ + 1)) {
      kind = TokenKind::kFloat;
      digits += text_[at_++];
      take_digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      const bool sign = at_ + 1 < text_.size() && (text_[at_ + 1] == '-' || text_[at_ + 1] == '+');
      if (digit_at(at_ + 1 + sign)) {
        kind = TokenKind::kFloat;
        digits.append(text_.substr(at_, 1 + sign));
        at_ += 1 + sign;
        take_digits();
      }
    }
    Add(kind, std::move(digits), begin);
  }

  void LexString(char quote) {
    const size_t begin = at_++;
    std::string out;
    while (status_.ok() && at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\') {
        LexEscape(out);
      } else {
        out += text_[at_++];
      }
    }
    if (at_ >= text_.size()) return Fail(begin, "the string does not end");
    ++at_;
    Add(TokenKind::kString, std::move(out), begin);
  }

  // Python's escapes; a backslash before any other character is itself.
  void LexEscape(std::string& out) {
    if (at_ + 1 >= text_.size()) {
      at_ = text_.size();
      return;
    }
    const char c = text_[at_ + 1];
    constexpr std::string_view kLetters = "ntrabfv\\'\"", kMeanings = "\n\t\r\a\b\f\v\\'\"";
    if (const size_t letter = kLetters.find(c); letter != kLetters.npos) {
      out += kMeanings[letter];
      at_ += 2;
      return;
    }
    if (c == '\n') {
      at_ += 2;
      return;
    }
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      out += '\\';
      ++at_;
      return;
    }
    uint64_t code = 0;
    for (size_t i = 0; i < digits; ++i) {
      const char digit = at_ + 2 + i < text_.size() ? text_[at_ + 2 + i] : '\0';
      if (!absl::ascii_isxdigit(digit)) return Fail(at_, "the escape is not complete");
      const int value = absl::ascii_isdigit(digit) ? digit - '0' : (digit | 32) - 'a' + 10;
      code = code << 4 | static_cast<uint64_t>(value);
    }
    if (code > 0x10FFFF) return Fail(at_, "the escape is no character");
    tokenizer::AppendUtf8(static_cast<uint32_t>(code), out);
    at_ += 2 + digits;
  }

  void LexOperator() {
    constexpr std::string_view kTwo[] = {"//", "**", "==", "!=", ">=", "<="};
    constexpr std::string_view kOne = "+-/*%~[](){}><=.:|,;";
    const std::string_view two = text_.substr(at_, 2);
    const bool is_two = std::find(std::begin(kTwo), std::end(kTwo), two) != std::end(kTwo);
    if (!is_two && kOne.find(text_[at_]) == kOne.npos) {
      Fail(at_, absl::StrCat("'",
                             std::string(text_.substr(
                                 at_, tokenizer::FirstCharacter(text_.substr(at_)).size)),
                             "' is not expected"));
      Add(TokenKind::kOperator, "", at_);
      return;
    }
    Add(TokenKind::kOperator, std::string(text_.substr(at_, is_two ? 2 : 1)), at_);
    at_ += is_two ? 2 : 1;
  }

  const std::string_view text_;
  size_t at_ = 0;
  bool starts_line_ = true;  // whether what came before `at_` ended a line, or is nothing
  std::vector<Token> tokens_;
  absl::Status status_;
};

}  // namespace

std::string NormalizeLines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      out += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    } else {
      out += text[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

absl::StatusOr<std::vector<Token>> Lex(std::string_view text) { return Lexer(text).Run(); }

absl::Status ErrorAt(std::string_view text, size_t position, std::string_view message) {
  const std::string_view before = text.substr(0, position);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return absl::InvalidArgumentError(
      absl::StrCat("line ", line, ", column ", column, ": ", std::string(message)));
}

}  // namespace tg::jinja
