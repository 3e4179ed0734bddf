#include "ir/text/diagnostic.h"

#include <algorithm>

namespace tg {
namespace {

// Longer source lines are truncated around the column.
constexpr size_t kMaxSnippetColumns = 120;

// The number of bytes of the first character of `text` if a terminal shows it: valid UTF-8, and no
// control character but a tab or a line end. Otherwise 0.
size_t ShownCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80)
    return (byte(0) >= 0x20 && byte(0) != 0x7f) || text[0] == '\t' || text[0] == '\n';
  const size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || size > text.size()) return 0;
  uint32_t code = byte(0) & (0x7f >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const uint32_t least = size == 2 ? 0xa0 : size == 3 ? 0x800 : 0x10000;  // C1 controls end at 0x9f
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code >= least && code <= 0x10ffff && !surrogate ? size : 0;
}

// A message on one line, whatever names it quotes.
std::string OneLine(std::string_view message) {
  std::string out;
  for (const char c : Printable(message)) {
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The line and a caret below `column` (from 1, in bytes). Tabs are kept, so that the caret lines
// up.
std::string Caret(std::string_view line, uint32_t column) {
  std::string out;
  size_t at = column ? column - 1 : 0;
  std::string_view prefix;
  if (line.size() > kMaxSnippetColumns && at > kMaxSnippetColumns / 2) {
    size_t cut = std::min(at - kMaxSnippetColumns / 2, line.size());
    while (cut < line.size() && ContinuesCharacter(line[cut])) --cut;
    line.remove_prefix(cut);
    at -= cut;
    prefix = "...";
  }
  size_t end = std::min(line.size(), kMaxSnippetColumns);
  while (end < line.size() && ContinuesCharacter(line[end])) ++end;
  out = std::string(prefix) + Printable(line.substr(0, end));
  if (line.size() > end) out += "...";
  out += '\n';
  if (column == 0) return out;
  out.append(prefix.size(), ' ');
  // One blank for each printed column before the location.
  for (const char c : Printable(line.substr(0, at))) {
    if (!ContinuesCharacter(c)) out += c == '\t' ? '\t' : ' ';
  }
  if (at > line.size()) out.append(at - line.size(), ' ');
  return out + "^\n";
}

std::string_view Trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t size = ShownCharacter(text);
    if (size == 0) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text[0]);
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      size = 1;
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out;
}

std::string Diagnostic::FirstLine() const {
  std::string out = file;
  if (loc.line) {
    if (!out.empty()) out += ':';
    out += std::to_string(loc.line) + ":" + std::to_string(loc.column);
  }
  if (!out.empty()) out += ": ";
  return out + "error: " + message;
}

void Diagnostics::SetSource(std::string_view text, std::string_view file_name) {
  text_ = text;
  file_ = file_name;
  line_starts_.clear();
}

std::string_view Diagnostics::OwnSource(std::string text, std::string_view file_name) {
  owned_ = std::move(text);
  SetSource(owned_, file_name);
  return owned_;
}

std::string_view Diagnostics::SourceLine(uint32_t line) {
  if (text_.empty() || line == 0) return {};
  if (line_starts_.empty()) {
    for (size_t at = 0; at != std::string_view::npos;) {
      line_starts_.push_back(at);
      at = text_.find('\n', at);
      if (at != std::string_view::npos) ++at;
    }
  }
  if (line > line_starts_.size()) return {};
  std::string_view out = text_.substr(line_starts_[line - 1]);
  out = out.substr(0, out.find('\n'));
  if (!out.empty() && out.back() == '\r') out.remove_suffix(1);
  return out;
}

void Diagnostics::Error(Location loc, std::string message, std::string_view context) {
  ++num_errors_;
  if (errors_.size() >= max_errors_) return;
  const std::string_view line = SourceLine(loc.line);
  Diagnostic d{file_, loc, OneLine(message), {}};
  if (!line.empty()) d.snippet = Caret(line, loc.column);
  if (!context.empty() && Trim(context) != Trim(line)) {
    d.snippet += "  in " + Printable(Trim(context)) + "\n";
  }
  errors_.push_back(std::move(d));
}

std::string Diagnostics::ToString() const {
  std::string out;
  for (const Diagnostic& d : errors_) out += d.FirstLine() + "\n" + d.snippet;
  if (num_errors_ > errors_.size()) {
    const size_t more = num_errors_ - errors_.size();
    out += "and " + std::to_string(more) + (more == 1 ? " more error\n" : " more errors\n");
  }
  return out;
}

absl::Status Diagnostics::ToStatus() const {
  if (errors_.empty()) return absl::OkStatus();
  std::string text = errors_[0].FirstLine();
  if (num_errors_ > 1) text += " (and " + std::to_string(num_errors_ - 1) + " more)";
  return absl::InvalidArgumentError(text);
}

void Diagnostics::Clear() {
  num_errors_ = 0;
  errors_.clear();
}

void Diagnostics::SortFrom(size_t first) {
  if (first >= errors_.size()) return;
  std::stable_sort(errors_.begin() + static_cast<std::ptrdiff_t>(first), errors_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::pair(a.loc.line, a.loc.column) <
                            std::pair(b.loc.line, b.loc.column);
                   });
}

}  // namespace tg
