// BERT's WordPiece: each word of the normalized text is split, from left to right, into the longest
// tokens that match. In GGUF files, tokens that begin a word carry the mark of a space, other
// tokens none.
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/tokenizer/space_mark.h"
#include "frontend/tokenizer/text_encoder.h"
#include "frontend/tokenizer/utf8.h"

namespace tg::tokenizer {
namespace {

bool IsSpace(uint32_t code) {
  return (code >= 9 && code <= 13) || code == 0x85 ||
         utf8proc_category(code) == UTF8PROC_CATEGORY_ZS || code == 0x2028 || code == 0x2029;
}

bool IsControl(utf8proc_category_t category) {
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CS || category == UTF8PROC_CATEGORY_CO;
}

bool IsAccent(utf8proc_category_t category) {
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool IsPunctuation(utf8proc_category_t category) {
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool IsSymbol(utf8proc_category_t category) {
  return category >= UTF8PROC_CATEGORY_SM && category <= UTF8PROC_CATEGORY_SO;
}

// Ideographs, each a word. 0x2B920 is BERT's own reading of where a block begins.
bool IsIdeograph(uint32_t code) {
  constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
      {0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
      {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F},
  };
  return std::any_of(std::begin(kRanges), std::end(kRanges), [code](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

// The first character of the canonical decomposition.
uint32_t WithoutAccents(uint32_t code) {
  std::array<utf8proc_int32_t, 32> parts{};
  int boundary_class = 0;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                                             parts.size(), UTF8PROC_DECOMPOSE, &boundary_class);
  return count > 0 ? static_cast<uint32_t>(parts[0]) : code;
}

uint32_t LowerCase(uint32_t code) {
  constexpr uint32_t kDottedCapitalI = 0x130;  // becomes two characters
  if (code == kDottedCapitalI) return code;
  return static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
}

class WordPieceEncoder : public TextEncoder {
 public:
  explicit WordPieceEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        lowercase_(vocabulary.data().lowercase.value_or(true)),
        strip_accents_(vocabulary.data().strip_accents.value_or(lowercase_)) {}

  void Encode(std::string_view text, bool, std::vector<TokenId>& out) const override {
    for (const std::string& word : Words(text)) AppendWord(word, out);
  }

  std::string Piece(std::string_view spelling) const override { return UnmarkSpaces(spelling); }

 private:
  // The words of a text, each with a mark of a space before it.
  std::vector<std::string> Words(std::string_view text) const {
    std::vector<std::string> words;
    bool in_word = false;
    const auto begin_word = [&] {
      words.emplace_back(kSpaceMark);
      in_word = true;
    };
    while (!text.empty()) {
      const Utf8Character character = FirstCharacter(text);
      text.remove_prefix(character.size);
      const uint32_t code = strip_accents_ ? WithoutAccents(character.code) : character.code;
      const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
      if (IsSpace(code)) {
        in_word = false;
        continue;
      }
      if (code == 0 || code == kReplacementCharacter || IsControl(category)) continue;
      if (strip_accents_ && IsAccent(category)) continue;
      const bool is_word =
          IsPunctuation(category) || (code < 0x7F && IsSymbol(category)) || IsIdeograph(code);
      if (is_word || !in_word) begin_word();
      AppendUtf8(lowercase_ ? LowerCase(code) : code, words.back());
      if (is_word) in_word = false;
    }
    return words;
  }

  void AppendWord(std::string_view word, std::vector<TokenId>& out) const {
    const size_t before = out.size();
    while (!word.empty()) {
      size_t size = std::min(word.size(), vocabulary_.longest_spelling());
      std::optional<TokenId> token;
      for (; size > 0 && !token; --size) token = vocabulary_.Find(word.substr(0, size));
      if (!token) {
        out.resize(before);
        break;
      }
      out.push_back(*token);
      word.remove_prefix(size + 1);
    }
    if (out.size() == before && vocabulary_.unknown()) out.push_back(*vocabulary_.unknown());
  }

  const Vocabulary& vocabulary_;
  const bool lowercase_;
  const bool strip_accents_;
};

}  // namespace

std::unique_ptr<TextEncoder> MakeWordPieceEncoder(const Vocabulary& vocabulary) {
  return std::make_unique<WordPieceEncoder>(vocabulary);
}

}  // namespace tg::tokenizer
