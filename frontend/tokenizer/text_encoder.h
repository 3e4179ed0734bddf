// The part of a tokenizer that depends on the kind of vocabulary: text without special tokens to
// ids, and tokens to bytes.
#ifndef TG_FRONTEND_TOKENIZER_TEXT_ENCODER_H_
#define TG_FRONTEND_TOKENIZER_TEXT_ENCODER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/tokenizer/vocabulary.h"

namespace tg::tokenizer {

class TextEncoder {
 public:
  virtual ~TextEncoder() = default;

  // Appends the ids of a text that is not empty. `first`: the text begins the input, or follows a
  // special token.
  virtual void Encode(std::string_view text, bool first, std::vector<TokenId>& out) const = 0;

  // The bytes that a normal token spells.
  virtual std::string Piece(std::string_view spelling) const = 0;
};

// `vocabulary` must outlive the encoder. Returns InvalidArgument if the pre-tokenizer is unknown or
// there are no merges.
absl::StatusOr<std::unique_ptr<TextEncoder>> MakeBytePairEncoder(const Vocabulary& vocabulary);
std::unique_ptr<TextEncoder> MakeSentencePieceEncoder(const Vocabulary& vocabulary);
std::unique_ptr<TextEncoder> MakeWordPieceEncoder(const Vocabulary& vocabulary);

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_TEXT_ENCODER_H_
