// UTF-8 text as code points. Bytes that are not UTF-8 are characters of one byte, U+FFFD.
#ifndef TG_FRONTEND_TOKENIZER_UTF8_H_
#define TG_FRONTEND_TOKENIZER_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tg::tokenizer {

inline constexpr uint32_t kReplacementCharacter = 0xFFFD;

struct Utf8Character {
  uint32_t code = kReplacementCharacter;
  size_t size = 1;     // in bytes
  bool valid = false;  // false: one byte that belongs to no character
};

// The first character of a text that is not empty. Overlong forms, surrogates and codes above
// U+10FFFF are not valid.
Utf8Character FirstCharacter(std::string_view text);

bool IsUtf8(std::string_view text);

// `code`: at most U+10FFFF.
void AppendUtf8(uint32_t code, std::string& out);

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_UTF8_H_
