// SentencePiece's byte-pair model: neighbouring symbols are merged if their concatenation is a
// token, the best score first. Characters that are in no token are spelled byte by byte.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/tokenizer/merge_symbols.h"
#include "frontend/tokenizer/space_mark.h"
#include "frontend/tokenizer/text_encoder.h"
#include "frontend/tokenizer/utf8.h"

namespace tg::tokenizer {
namespace {

class SentencePieceEncoder : public TextEncoder {
 public:
  explicit SentencePieceEncoder(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void Encode(std::string_view text, bool first, std::vector<TokenId>& out) const override {
    std::string word;
    if (first && vocabulary_.adds_space_prefix()) word = kSpaceMark;
    word += MarkSpaces(text);

    std::vector<Symbol> symbols;
    for (size_t at = 0; at < word.size(); at += symbols.back().size) {
      Symbol symbol;
      symbol.begin = at;
      symbol.size = FirstCharacter(std::string_view(word).substr(at)).size;
      symbol.id = vocabulary_.Find(SpellingOf(symbol, word)).value_or(-1);
      symbols.push_back(symbol);
    }
    MergeSymbols<float>(
        symbols, [&](const Symbol& left, const Symbol& right) { return Join(left, right, word); });
    for (int32_t i = 0; i >= 0; i = symbols[i].next) Append(symbols[i], word, out);
  }

  std::string Piece(std::string_view spelling) const override { return UnmarkSpaces(spelling); }

 private:
  static std::string_view SpellingOf(const Symbol& symbol, std::string_view word) {
    return word.substr(symbol.begin, symbol.size);
  }

  std::optional<Joined<float>> Join(const Symbol& left, const Symbol& right,
                                    std::string_view word) const {
    const size_t size = left.size + right.size;
    if (size > vocabulary_.longest_spelling()) return std::nullopt;
    const std::optional<TokenId> token = vocabulary_.Find(word.substr(left.begin, size));
    if (!token) return std::nullopt;
    return Joined<float>{-vocabulary_.Score(*token), *token};
  }

  void Append(const Symbol& symbol, std::string_view word, std::vector<TokenId>& out) const {
    if (symbol.id >= 0) {
      out.push_back(symbol.id);
      return;
    }
    for (const char byte : SpellingOf(symbol, word)) {
      std::optional<TokenId> token = vocabulary_.ForByte(static_cast<uint8_t>(byte));
      if (!token) token = vocabulary_.unknown();
      if (token) out.push_back(*token);
    }
  }

  const Vocabulary& vocabulary_;
};

}  // namespace

std::unique_ptr<TextEncoder> MakeSentencePieceEncoder(const Vocabulary& vocabulary) {
  return std::make_unique<SentencePieceEncoder>(vocabulary);
}

}  // namespace tg::tokenizer
