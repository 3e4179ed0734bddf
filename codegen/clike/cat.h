// Text, Cat, Append: concatenation of strings and integers, like absl::StrCat. A kernel's source
// consists of thousands of short strings, so inlined code writes each directly into its final
// buffer.
#ifndef TG_CODEGEN_CLIKE_CAT_H_
#define TG_CODEGEN_CLIKE_CAT_H_

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"

namespace tg::clike {

template <typename T>
concept Number = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

// A string that is built from many small pieces. Short strings need no heap allocation.
class Text {
 public:
  Text() = default;
  Text(std::string_view s) { Add(s); }               // NOLINT: implicit, because a Text is a string
  Text(const std::string& s) { Add(s); }             // NOLINT
  Text(const char* s) { Add(std::string_view(s)); }  // NOLINT
  Text(const Text& other) { Add(other.view()); }
  Text(Text&& other) noexcept { Take(other); }
  ~Text() { Free(); }
  Text& operator=(std::string_view s) {
    size_ = 0;
    Add(s);
    return *this;
  }
  Text& operator=(const std::string& s) { return *this = std::string_view(s); }
  Text& operator=(const Text& other) { return this == &other ? *this : *this = other.view(); }
  Text& operator=(Text&& other) noexcept {
    if (this == &other) return *this;
    Free();
    Take(other);
    return *this;
  }

  std::string_view view() const { return {data_, size_}; }
  operator std::string_view() const { return view(); }  // NOLINT
  std::string str() const { return std::string(view()); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  char operator[](size_t i) const { return data_[i]; }

  void clear() { size_ = 0; }
  void Shrink(size_t size) { size_ = static_cast<uint32_t>(size); }  // removes the last characters
  void Reserve(size_t size) {
    if (size > capacity_) Grow(size);
  }

  void Add(std::string_view s) {
    char* to = SpaceFor(s.size());
    size_ += static_cast<uint32_t>(s.size());
    // Most pieces are so short that a call of memcpy costs more than a loop.
    if (s.size() > 16) {
      std::memcpy(to, s.data(), s.size());
    } else if (s.size() >= 8) {
      CopyEnds<8>(to, s);
    } else if (s.size() >= 4) {
      CopyEnds<4>(to, s);
    } else if (!s.empty()) {
      to[0] = s.front();
      to[s.size() / 2] = s[s.size() / 2];
      to[s.size() - 1] = s.back();
    }
  }
  // Appends a string literal.
  template <size_t n>
  void Add(const char (&s)[n]) {
    std::memcpy(SpaceFor(n - 1), s, n - 1);
    size_ += static_cast<uint32_t>(n - 1);
  }
  // Appends the characters up to the terminating 0. Arrays of characters are literals and take the
  // overload above.
  template <std::same_as<const char*> T>
  void Add(const T& s) {
    Add(std::string_view(s));
  }
  void Add(const Text& s) { Add(s.view()); }
  void Add(const std::string& s) { Add(std::string_view(s)); }
  template <Number T>
  void Add(T number) {
    char* to = SpaceFor(kDigits);
    size_ += static_cast<uint32_t>(std::to_chars(to, to + kDigits, number).ptr - to);
  }
  void Add(char c) {
    *SpaceFor(1) = c;
    ++size_;
  }
  void Fill(size_t n, char c) {
    std::memset(SpaceFor(n), c, n);
    size_ += static_cast<uint32_t>(n);
  }

 private:
  static constexpr size_t kInline = 32, kDigits = 20;  // kDigits: enough for any 64-bit integer

  template <size_t n>
  static void CopyEnds(char* to, std::string_view s) {
    std::memcpy(to, s.data(), n);
    std::memcpy(to + s.size() - n, s.data() + s.size() - n, n);
  }
  // Returns the address at which the next `n` characters are written.
  char* SpaceFor(size_t n) {
    if (size_ + n > capacity_) Grow(size_ + n);
    return data_ + size_;
  }
  void Grow(size_t size) {
    const size_t capacity = std::max(size, 2 * size_t{capacity_});
    TG_CHECK(capacity <= UINT32_MAX);
    char* data = new char[capacity];
    std::memcpy(data, data_, size_);
    Free();
    data_ = data;
    capacity_ = static_cast<uint32_t>(capacity);
  }
  void Free() {
    if (data_ != inline_) delete[] data_;
  }
  void Take(Text& other) {
    size_ = other.size_;
    capacity_ = other.capacity_;
    if (other.data_ == other.inline_) {
      data_ = inline_;
      std::memcpy(inline_, other.inline_, size_);
    } else {
      data_ = other.data_;
      other.data_ = other.inline_;
      other.capacity_ = kInline;
    }
    other.size_ = 0;
  }

  char* data_ = inline_;
  uint32_t size_ = 0, capacity_ = kInline;
  char inline_[kInline];
};

template <typename... T>
void Append(Text& out, const T&... parts) {
  (out.Add(parts), ...);
}

template <typename... T>
void Append(std::string& out, const T&... parts) {
  Text text;
  Append(text, parts...);
  out += text.view();
}

template <typename... T>
std::string Cat(const T&... parts) {
  Text text;
  Append(text, parts...);
  return text.str();
}

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_CAT_H_
