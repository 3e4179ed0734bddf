#include "runtime/io/npy_header.h"

#include <utility>

#include "base/status.h"

namespace tg::runtime {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A cursor over the literal. Errors name the offset in the header.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  absl::StatusOr<NpyHeaderFields> Parse() {
    bool has_descr = false, has_order = false, has_shape = false;
    NpyHeaderFields fields;
    TG_RETURN_IF_ERROR(Expect('{'));
    while (!Accept('}')) {
      TG_ASSIGN_OR_RETURN(const std::string key, String("a key"));
      TG_RETURN_IF_ERROR(Expect(':'));
      if (key == "descr" && !std::exchange(has_descr, true)) {
        TG_RETURN_IF_ERROR(Descr(fields.descr));
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        TG_RETURN_IF_ERROR(Bool(fields.fortran_order));
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        TG_RETURN_IF_ERROR(Shape(fields.shape));
      } else if (key == "descr" || key == "fortran_order" || key == "shape") {
        return Error("the key '", key, "' is given twice");
      } else {
        return Error("unknown key '", key.substr(0, 40), "'");
      }
      if (Accept(',')) continue;
      TG_RETURN_IF_ERROR(Expect('}'));
      break;
    }
    SkipSpace();
    if (at_ != text_.size()) return Error("text after the closing brace");
    if (!has_descr) return Error("no 'descr'");
    if (!has_order) return Error("no 'fortran_order'");
    if (!has_shape) return Error("no 'shape'");
    return fields;
  }

 private:
  template <typename... Parts>
  absl::Status Error(const Parts&... parts) const {
    return InvalidArgument(name_, ": npy header, character ", at_, ": ", parts...);
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  bool Accept(char c) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  absl::Status Expect(char c) {
    if (Accept(c)) return absl::OkStatus();
    return Error("expected '", c, "'");
  }

  // Parses a Python string without escapes, in single or double quotes.
  absl::StatusOr<std::string> String(std::string_view what) {
    SkipSpace();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) {
      return Error("expected ", what, " in quotes");
    }
    const char quote = text_[at_];
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return Error("the string has no closing quote");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    for (const char c : value) {
      if (c == '\\' || static_cast<unsigned char>(c) < ' ') return Error("escape in a string");
    }
    at_ = end + 1;
    return std::string(value);
  }

  absl::Status Descr(std::string& out) {
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == '[') {
      return Unimplemented(name_, ": a structured dtype; only plain numbers and bool can be read");
    }
    TG_ASSIGN_OR_RETURN(out, String("the dtype"));
    return absl::OkStatus();
  }

  absl::Status Bool(bool& out) {
    SkipSpace();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true},
                                      std::pair<std::string_view, bool>{"False", false}}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      out = value;
      return absl::OkStatus();
    }
    return Error("expected True or False");
  }

  // Parses a tuple of sizes: "()", "(3,)", "(3, 4)", "(3, 4,)". A size may have the suffix L of
  // Python 2.
  absl::Status Shape(std::vector<int64_t>& out) {
    TG_RETURN_IF_ERROR(Expect('('));
    if (Accept(')')) return absl::OkStatus();
    while (true) {
      int64_t dim = 0;
      TG_RETURN_IF_ERROR(Size(dim));
      if (out.size() == kNpyMaxRank) return Error("more than ", kNpyMaxRank, " dimensions");
      out.push_back(dim);
      const bool comma = Accept(',');
      if (Accept(')')) {
        if (out.size() == 1 && !comma) return Error("(n) is no tuple in Python; (n,) is");
        return absl::OkStatus();
      }
      if (!comma) return Error("expected ',' or ')' in the shape");
    }
  }

  absl::Status Size(int64_t& out) {
    SkipSpace();
    if (at_ == text_.size() || !IsDigit(text_[at_])) return Error("expected a size >= 0");
    for (; at_ < text_.size() && IsDigit(text_[at_]); ++at_) {
      if (__builtin_mul_overflow(out, int64_t{10}, &out) ||
          __builtin_add_overflow(out, int64_t{text_[at_] - '0'}, &out)) {
        return Error("a size does not fit 64 bits");
      }
    }
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return absl::OkStatus();
  }

  std::string_view text_;
  std::string_view name_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<NpyHeaderFields> ParseNpyHeader(std::string_view text, std::string_view name) {
  return HeaderParser(text, name).Parse();
}

}  // namespace tg::runtime
