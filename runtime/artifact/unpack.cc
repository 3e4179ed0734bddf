#include <algorithm>
#include <cstdint>

#include "runtime/artifact/compress.h"

namespace tg::artifact {
namespace {

// Returns false at the end of `packed`, or if a number has more than 35 bits.
bool TakeNumber(std::string_view& packed, size_t& value) {
  value = 0;
  for (int shift = 0; shift <= 28 && !packed.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(packed[0]);
    packed.remove_prefix(1);
    value |= size_t{byte & 127u} << shift;
    if (byte < 128) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> Unpack(std::string_view packed, size_t size) {
  std::string text;
  text.reserve(size);
  size_t count = 0, distance = 0;
  for (;;) {
    if (!TakeNumber(packed, count)) return std::nullopt;
    if (count > packed.size() || count > size - text.size()) return std::nullopt;
    text += packed.substr(0, count);
    packed.remove_prefix(count);
    if (!TakeNumber(packed, count)) return std::nullopt;
    if (count == 0) break;
    count += 3;
    if (!TakeNumber(packed, distance) || distance == 0 || distance > text.size() ||
        count > size - text.size()) {
      return std::nullopt;
    }
    const size_t from = text.size() - distance;
    if (count <= distance) {
      text.append(text, from, count);
    } else {
      for (size_t i = 0; i < count; ++i) text += text[from + i];
    }
  }
  if (text.size() != size || !packed.empty()) return std::nullopt;
  return text;
}

}  // namespace tg::artifact
