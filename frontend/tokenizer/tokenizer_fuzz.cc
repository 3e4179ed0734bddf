// The first byte chooses a vocabulary for a text, the other bytes. Or the bytes are themselves a
// vocabulary in the form of testing/vocabulary_text.h.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "frontend/tokenizer/pre_tokenizer.h"
#include "frontend/tokenizer/testing/vocabulary_text.h"
#include "frontend/tokenizer/tokenizer.h"

namespace tg::tokenizer {
namespace {

constexpr std::string_view kBytePair =
#include "frontend/tokenizer/testdata/bpe.txt.inc"
    ;
constexpr std::string_view kSentencePiece =
#include "frontend/tokenizer/testdata/spm.txt.inc"
    ;
constexpr std::string_view kWordPiece =
#include "frontend/tokenizer/testdata/wpm.txt.inc"
    ;

std::unique_ptr<Tokenizer> Make(std::string_view text, std::string_view pre = "") {
  auto data = ParseVocabularyText(text);
  TG_CHECK(data.ok());
  if (!pre.empty()) data->pre = std::string(pre);
  auto tokenizer = MakeTokenizer(*std::move(data));
  TG_CHECK(tokenizer.ok());
  return *std::move(tokenizer);
}

std::vector<std::unique_ptr<Tokenizer>> MakeTokenizers() {
  std::vector<std::unique_ptr<Tokenizer>> tokenizers;
  tokenizers.push_back(Make(kSentencePiece));
  tokenizers.push_back(Make(kWordPiece));
  for (const PreTokenizerRow& row : PreTokenizers())
    tokenizers.push_back(Make(kBytePair, row.name));
  return tokenizers;
}

void EncodeAndDecode(const Tokenizer& tokenizer, std::string_view text, bool comes_back) {
  for (const bool special : {false, true}) {
    const std::vector<TokenId> ids =
        tokenizer.Encode(text, {.parse_special = special, .add_special = !comes_back});
    for (const TokenId id : ids) {
      TG_CHECK(id >= 0 && static_cast<size_t>(id) < tokenizer.size());
    }
    const std::string decoded = tokenizer.DecodeAll(ids, special);
    if (comes_back) TG_CHECK(decoded == text);
  }
}

}  // namespace
}  // namespace tg::tokenizer

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto& tokenizers = *new auto(tg::tokenizer::MakeTokenizers());
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t choice = data[0];
  if (choice < tokenizers.size()) {
    // The mark of a space decodes to a space; WordPiece loses more.
    const bool comes_back = choice > 1 || (choice == 0 && text.find("\xE2\x96\x81") == text.npos);
    tg::tokenizer::EncodeAndDecode(*tokenizers[choice], text, comes_back);
    return 0;
  }
  auto vocabulary = tg::tokenizer::ParseVocabularyText(text);
  if (!vocabulary.ok()) return 0;
  const auto tokenizer = tg::tokenizer::MakeTokenizer(*std::move(vocabulary));
  if (!tokenizer.ok()) {
    TG_CHECK(!tokenizer.status().message().empty());
    return 0;
  }
  tg::tokenizer::EncodeAndDecode(**tokenizer, "Hello <s> \xFF wörld\n", false);
  tg::tokenizer::EncodeAndDecode(**tokenizer, text.substr(0, 200), false);
  return 0;
}
