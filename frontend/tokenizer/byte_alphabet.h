// GPT-2's spelling of bytes in byte-pair vocabularies: each byte is one printable character, so
// that merges can be lines of text. Printable bytes of Latin-1 are themselves; the others are
// U+0100 and up, in order.
#ifndef TG_FRONTEND_TOKENIZER_BYTE_ALPHABET_H_
#define TG_FRONTEND_TOKENIZER_BYTE_ALPHABET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tg::tokenizer {

// The character of a byte, as UTF-8.
std::string_view SpellByte(uint8_t byte);

// The bytes that a token's characters spell, or nothing if one of them spells no byte.
std::optional<std::string> UnspellBytes(std::string_view token);

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_BYTE_ALPHABET_H_
