// Cat, Append: texts and integers one after the other, as absl::StrCat. That one first fills the
// string with zeros where the standard library cannot leave it unset, and a kernel is thousands of
// short strings.
#ifndef TG_CODEGEN_OPENCL_CAT_H_
#define TG_CODEGEN_OPENCL_CAT_H_

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace tg::opencl {

class CatPart {
 public:
  CatPart(std::string_view text) : text_(text) {}    // NOLINT: a text is a part
  CatPart(const char* text) : text_(text) {}         // NOLINT
  CatPart(const std::string& text) : text_(text) {}  // NOLINT
  template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>) CatPart(T number)  // NOLINT
      : text_(digits_,
              static_cast<size_t>(std::to_chars(digits_, digits_ + sizeof digits_, number).ptr -
                                  digits_)) {}
  CatPart(const CatPart&) = delete;
  CatPart& operator=(const CatPart&) = delete;

  std::string_view text() const { return text_; }

 private:
  char digits_[20];  // of any 64-bit integer
  std::string_view text_;
};

template <typename... T>
void Append(std::string& out, const T&... parts) {
  const CatPart list[] = {parts...};
  for (const CatPart& p : list) out += p.text();
}

template <typename... T>
std::string Cat(const T&... parts) {
  const CatPart list[] = {parts...};
  size_t size = 0;
  for (const CatPart& p : list) size += p.text().size();
  std::string out;
  out.reserve(size);
  for (const CatPart& p : list) out += p.text();
  return out;
}

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_CAT_H_
