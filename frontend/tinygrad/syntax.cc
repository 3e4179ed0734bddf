#include "frontend/tinygrad/syntax.h"

#include <algorithm>

namespace tg::tinygrad {

Location Text::LocationOf(const char* at) const {
  const std::string_view before(source_.data(), static_cast<size_t>(at - source_.data()));
  const size_t line = static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<uint32_t>(line), static_cast<uint32_t>(before.size() - start + 1)};
}

const Item* Text::Keep(const Item* items, size_t count) {
  if (used_ + count > capacity_) {
    capacity_ = std::max<size_t>(count, 4096);
    chunks_.push_back(std::make_unique<Item[]>(capacity_));
    used_ = 0;
  }
  Item* copy = chunks_.empty() ? nullptr : chunks_.back().get() + used_;
  std::copy_n(items, count, copy);
  used_ += count;
  return copy;
}

void ForEachNodeIn(const Value& arg, llvm::function_ref<void(const Node*)> visit) {
  std::vector<const Value*> stack;
  for (const Value* v = &arg;; v = stack.back(), stack.pop_back()) {
    if (v->kind == Kind::kUOp) visit(v->node);
    for (const Item& item : v->list()) stack.push_back(&item.value);
    if (stack.empty()) return;
  }
}

namespace {

// Parses the hexadecimal digits text[at, at + count); returns -1 if there are others.
int32_t Hex(std::string_view text, size_t at, size_t count) {
  if (at + count > text.size()) return -1;
  int32_t value = 0;
  for (size_t i = at; i < at + count; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void AppendUtf8(int32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

}  // namespace

std::string Unquote(std::string_view quoted) {
  const size_t open = quoted.find_first_of("'\"");
  const std::string_view text = quoted.substr(open + 1, quoted.size() - open - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 0;
    if (const int32_t code = digits ? Hex(text, i + 1, digits) : -1; code >= 0) {
      if (digits == 2) {
        out += static_cast<char>(code);
      } else {
        AppendUtf8(code, out);
      }
      i += digits;
    } else {
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == '0' ? '\0' : c;
    }
  }
  return out;
}

const Value* FindItem(const Value& call, std::string_view key, size_t position) {
  const std::span<const Item> items = call.list();
  for (const Item& item : items) {
    if (item.key == key) return &item.value;
  }
  if (position < items.size() && items[position].key.empty()) return &items[position].value;
  return nullptr;
}

}  // namespace tg::tinygrad
