#include "frontend/tokenizer/byte_alphabet.h"

#include <array>

#include "frontend/tokenizer/utf8.h"

namespace tg::tokenizer {
namespace {

constexpr uint32_t kFirstMoved = 0x100;

constexpr bool IsItself(uint32_t byte) {
  return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
}

struct Alphabet {
  std::array<std::string, 256> spelling;
  std::array<int, kFirstMoved + 256> byte_of;  // -1: spells no byte

  Alphabet() {
    byte_of.fill(-1);
    uint32_t moved = kFirstMoved;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t code = IsItself(byte) ? byte : moved++;
      AppendUtf8(code, spelling[byte]);
      byte_of[code] = static_cast<int>(byte);
    }
  }
};

const Alphabet& TheAlphabet() {
  static const Alphabet& alphabet = *new Alphabet();
  return alphabet;
}

}  // namespace

std::string_view SpellByte(uint8_t byte) { return TheAlphabet().spelling[byte]; }

std::optional<std::string> UnspellBytes(std::string_view token) {
  std::string bytes;
  while (!token.empty()) {
    const Utf8Character character = FirstCharacter(token);
    const auto& byte_of = TheAlphabet().byte_of;
    if (!character.valid || character.code >= byte_of.size()) return std::nullopt;
    const int byte = byte_of[character.code];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    token.remove_prefix(character.size);
  }
  return bytes;
}

}  // namespace tg::tokenizer
