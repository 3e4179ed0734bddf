#include "frontend/tokenizer/jinja/json.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "frontend/tokenizer/utf8.h"

namespace tg::jinja {
namespace {

class Writer {
 public:
  explicit Writer(const JsonOptions& options) : options_(options) {
    if (options_.item_separator.empty() && options_.key_separator.empty()) {
      options_.item_separator = options_.indent ? "," : ", ";
      options_.key_separator = ": ";
    }
  }

  // False if the value contains something that JSON cannot represent.
  bool Write(const Value& value) {
    switch (value.kind()) {
      case Kind::kNone:
        out_ += "null";
        return true;
      case Kind::kBool:
        out_ += value.AsBool() ? "true" : "false";
        return true;
      case Kind::kInt:
        out_ += value.Repr();
        return true;
      case Kind::kFloat: {
        const double number = value.AsNumber();
        out_ += std::isnan(number)   ? "NaN"
                : std::isinf(number) ? (number < 0 ? "-Infinity" : "Infinity")
                                     : value.Repr();
        return true;
      }
      case Kind::kString:
        WriteString(value.AsString());
        return true;
      case Kind::kList:
        return WriteItems('[', ']', value.AsList(),
                          [this](const Value& item) { return Write(item); });
      case Kind::kDict:
        return WriteDict(value.AsDict());
      case Kind::kUndefined:
      case Kind::kNamespace:
      case Kind::kFunction:
        return false;
    }
    return false;
  }

  std::string Take() { return std::move(out_); }

 private:
  bool WriteDict(Dict entries) {
    if (options_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.first.Less(b.first).value_or(false);
      });
    }
    return WriteItems('{', '}', entries, [this](const Entry& entry) {
      if (entry.first.is(Kind::kString)) {
        WriteString(entry.first.AsString());
      } else if (entry.first.IsNumber() || entry.first.is(Kind::kNone)) {
        out_ += '"';
        if (!Write(entry.first)) return false;
        out_ += '"';
      } else {
        return false;
      }
      out_ += options_.key_separator;
      return Write(entry.second);
    });
  }

  template <class Items, class WriteItem>
  bool WriteItems(char open, char close, const Items& items, const WriteItem& write) {
    out_ += open;
    ++level_;
    for (const auto& item : items) {
      if (&item != &items.front()) out_ += options_.item_separator;
      NewLine();
      if (!write(item)) return false;
    }
    --level_;
    if (!items.empty()) NewLine();
    out_ += close;
    return true;
  }

  void NewLine() {
    if (!options_.indent) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(level_ * *options_.indent), ' ');
  }

  void WriteString(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      const tokenizer::Utf8Character character = tokenizer::FirstCharacter(text);
      WriteCharacter(character, text.substr(0, character.size));
      text.remove_prefix(character.size);
    }
    out_ += '"';
  }

  void WriteCharacter(const tokenizer::Utf8Character& character, std::string_view bytes) {
    constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f", kLetters = "\"\\nrtbf";
    const uint32_t code = character.code;
    if (code < 0x80 && kEscaped.find(static_cast<char>(code)) != kEscaped.npos) {
      out_ += '\\';
      out_ += kLetters[kEscaped.find(static_cast<char>(code))];
    } else if (code < 0x20 || (options_.ascii && code >= 0x7F)) {
      if (code < 0x10000) {
        out_ += absl::StrFormat("\\u%04x", code);
      } else {
        out_ += absl::StrFormat("\\u%04x\\u%04x", 0xD800 + ((code - 0x10000) >> 10),
                                0xDC00 + ((code - 0x10000) & 0x3FF));
      }
    } else {
      out_ += bytes;
    }
  }

  JsonOptions options_;
  std::string out_;
  int level_ = 0;
};

}  // namespace

std::optional<std::string> ToJson(const Value& value, const JsonOptions& options) {
  Writer writer(options);
  if (!writer.Write(value)) return std::nullopt;
  return writer.Take();
}

}  // namespace tg::jinja
