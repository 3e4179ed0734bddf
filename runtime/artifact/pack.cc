#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/artifact/compress.h"

namespace tg::artifact {
namespace {

void PutNumber(std::string& out, size_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

// Finds earlier parts of a text by their first four bytes.
class EarlierParts {
 public:
  struct Part {
    size_t length = 0, distance = 0;
  };

  explicit EarlierParts(std::string_view text)
      : text_(text), last_(size_t{1} << kBits, kNone), previous_(text.size(), kNone) {}

  void Add(size_t at) {
    if (at + kWord > text_.size()) return;
    uint32_t& last = last_[Key(at)];
    previous_[at] = last;
    last = static_cast<uint32_t>(at);
  }

  // The longest of the latest parts that are equal to what begins at this byte.
  Part Find(size_t at) const {
    Part best;
    if (at + kWord > text_.size()) return best;
    uint32_t from = last_[Key(at)];
    for (int i = 0; i < kMostTried && from != kNone; ++i, from = previous_[from]) {
      size_t length = 0;
      while (at + length < text_.size() && text_[from + length] == text_[at + length]) ++length;
      if (length > best.length) best = {length, at - from};
    }
    return best;
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr int kBits = 16, kMostTried = 64;
  static constexpr size_t kWord = 4;

  size_t Key(size_t at) const {
    uint32_t word = 0;
    std::memcpy(&word, &text_[at], kWord);
    return word * 2654435761u >> (32 - kBits);
  }

  std::string_view text_;
  std::vector<uint32_t> last_, previous_;  // by key; by byte of the text
};

}  // namespace

std::string Pack(std::string_view text) {
  // Shorter parts take more bytes than they spare.
  constexpr size_t kLeast = 6;
  std::string out;
  EarlierParts parts(text);
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const EarlierParts::Part part = parts.Find(at);
    const size_t end = at + (part.length < kLeast ? 1 : part.length);
    if (part.length >= kLeast) {
      PutNumber(out, at - begin);
      out += text.substr(begin, at - begin);
      PutNumber(out, part.length - 3);
      PutNumber(out, part.distance);
      begin = end;
    }
    for (; at < end; ++at) parts.Add(at);
  }
  PutNumber(out, text.size() - begin);
  out += text.substr(begin);
  PutNumber(out, 0);
  return out;
}

}  // namespace tg::artifact
