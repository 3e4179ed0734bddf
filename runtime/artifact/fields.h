// Fields: a function Fields(archive, value) has the order of a value's fields, once for writing and
// for reading.
//
// An archive has Number, String and List. The writer's take what they are given; the reader's set
// it.
#ifndef TG_RUNTIME_ARTIFACT_FIELDS_H_
#define TG_RUNTIME_ARTIFACT_FIELDS_H_

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/cat.h"

namespace tg::artifact {

class FieldWriter {
 public:
  static constexpr bool kReads = false;

  template <typename T>
  void Number(T& value) {
    Append(&value, sizeof value);
  }
  void String(std::string& text) {
    auto size = static_cast<uint32_t>(text.size());
    Number(size);
    out_ += text;
  }
  template <typename T, typename F>
  void List(const char*, std::vector<T>& list, F&& fields) {
    auto size = static_cast<uint32_t>(list.size());
    Number(size);
    for (T& item : list) fields(item);
  }
  std::string Take() { return std::move(out_); }

 private:
  void Append(const void* data, size_t size) { out_.append(static_cast<const char*>(data), size); }
  std::string out_;
};

// After an error everything that is read is 0 or empty.
class FieldReader {
 public:
  static constexpr bool kReads = true;

  // `what` is what errors call the bytes.
  FieldReader(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  template <typename T>
  void Number(T& value) {
    value = T();
    if (!Has(sizeof value, "a number")) return;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
  }
  void String(std::string& text) {
    uint32_t size = 0;
    Number(size);
    text.clear();
    if (!Has(size, "a text")) return;
    text = bytes_.substr(at_, size);
    at_ += size;
  }
  template <typename T, typename F>
  void List(const char* what, std::vector<T>& list, F&& fields) {
    uint32_t size = 0;
    Number(size);
    list.clear();
    // Each element takes a byte at least, so that a wrong count asks for no memory.
    if (!Has(size, what)) return;
    for (uint32_t i = 0; i < size && error_.empty(); ++i) fields(list.emplace_back());
  }

  size_t at() const { return at_; }
  bool AtEnd() const { return at_ == bytes_.size(); }
  const std::string& error() const { return error_; }

 private:
  bool Has(size_t size, std::string_view what) {
    if (error_.empty() && size > bytes_.size() - at_) {
      error_ = Cat("byte ", at_, " of ", what_, ": ", what, " goes beyond its end");
    }
    return error_.empty();
  }

  std::string_view bytes_, what_;
  size_t at_ = 0;
  std::string error_;
};

template <typename A, typename E>
requires std::is_enum_v<E>
void Enum(A& a, E& value) { a.Number(value); }

template <typename A>
void Flag(A& a, bool& value) {
  uint8_t byte = value;
  a.Number(byte);
  value = byte != 0;
}

template <typename A>
void Strings(A& a, const char* what, std::vector<std::string>& list) {
  a.List(what, list, [&](std::string& s) { a.String(s); });
}

// Whether there is a value, and the value or a default one.
template <typename A, typename T>
void Optional(A& a, std::optional<T>& value) {
  bool has_value = value.has_value();
  T number = value.value_or(T());
  Flag(a, has_value);
  a.Number(number);
  if constexpr (A::kReads) value = has_value ? std::optional(number) : std::nullopt;
}

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_FIELDS_H_
