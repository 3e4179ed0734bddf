#include "tools/llm/text_stream.h"

#include <algorithm>

namespace tg::llm {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned char At(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// The length of the character at the beginning of `text`. 0 if the text is a prefix of a character,
// -1 if its first byte cannot begin one.
int LengthOf(std::string_view text) {
  const unsigned char first = At(text, 0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return -1;
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) return 0;
    // The second byte excludes overlong forms, surrogates, and what is beyond U+10FFFF.
    unsigned char least = 0x80, most = 0xBF;
    if (i == 1 && first == 0xE0) least = 0xA0;
    if (i == 1 && first == 0xED) most = 0x9F;
    if (i == 1 && first == 0xF0) least = 0x90;
    if (i == 1 && first == 0xF4) most = 0x8F;
    if (At(text, i) < least || At(text, i) > most) return -1;
  }
  return static_cast<int>(length);
}

// The length of the longest end of `text` that begins `stop`, but is not all of it.
size_t Overlap(std::string_view text, std::string_view stop) {
  size_t n = std::min(text.size(), stop.size() - 1);
  while (n > 0 && !stop.starts_with(text.substr(text.size() - n))) --n;
  return n;
}

}  // namespace

std::string TextStream::Take(size_t end) {
  std::string shown;
  size_t at = 0;
  while (at < end) {
    const int length = LengthOf(std::string_view(pending_).substr(at));
    if (length == 0 || (length > 0 && at + static_cast<size_t>(length) > end)) break;
    if (length < 0) {
      shown += kReplacement;
      ++at;
    } else {
      shown.append(pending_, at, static_cast<size_t>(length));
      at += static_cast<size_t>(length);
    }
  }
  pending_.erase(0, at);
  return shown;
}

std::string TextStream::Add(std::string_view bytes) {
  if (is_stopped_) return "";
  pending_ += bytes;
  size_t stop_at = std::string::npos, held = 0;
  for (const std::string& stop : stops_) {
    if (stop.empty()) continue;
    stop_at = std::min(stop_at, pending_.find(stop));
    held = std::max(held, Overlap(pending_, stop));
  }
  if (stop_at == std::string::npos) return Take(pending_.size() - held);
  is_stopped_ = true;
  pending_.resize(stop_at);
  return Finish();
}

std::string TextStream::Finish() {
  std::string shown = Take(pending_.size());
  // A character that was not finished.
  if (!pending_.empty()) shown += kReplacement;
  pending_.clear();
  return shown;
}

}  // namespace tg::llm
