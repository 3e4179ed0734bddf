// Converts text to token ids and back, as the metadata of a GGUF file describes.
//
// There are three kinds of vocabularies: byte-pair ("gpt2"), SentencePiece with scores ("llama")
// and WordPiece ("bert"). For valid UTF-8 the ids equal those of llama.cpp for the same vocabulary.
// Bytes that are not UTF-8 are kept if the vocabulary has a token for each byte: decoding gives
// them back.
//
// A Tokenizer is immutable: several threads may use one at the same time.
#ifndef TG_FRONTEND_TOKENIZER_TOKENIZER_H_
#define TG_FRONTEND_TOKENIZER_TOKENIZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::tokenizer {

using TokenId = int32_t;

// What a token is, as GGUF numbers it.
enum class TokenType : int32_t {
  kUndefined = 0,
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,      // such as <|im_end|>: never printed, matched in text only where asked for
  kUserDefined = 4,  // matched in any text before it is split
  kUnused = 5,
  kByte = 6,  // spelled <0xAB>
};

// Whether text does not show the token.
inline bool IsHidden(TokenType type) {
  return type == TokenType::kControl || type == TokenType::kUnknown;
}

// The vocabulary of a GGUF file. The comment of each field is its metadata key; a key that the file
// lacks leaves the field as it is here.
struct TokenizerData {
  std::string architecture;  // general.architecture
  std::string name;          // general.name
  std::string model;         // tokenizer.ggml.model: "gpt2", "llama" or "bert"
  std::string pre;           // tokenizer.ggml.pre; empty: by the architecture, else "default"
  std::vector<std::string> tokens;       // tokenizer.ggml.tokens
  std::vector<float> scores;             // tokenizer.ggml.scores; empty, or one for each token
  std::vector<int32_t> token_types;      // tokenizer.ggml.token_type; empty, or one for each token
  std::vector<std::string> merges;       // tokenizer.ggml.merges: "left right", best first
  std::optional<int64_t> bos_id;         // tokenizer.ggml.bos_token_id
  std::optional<int64_t> eos_id;         // tokenizer.ggml.eos_token_id
  std::optional<int64_t> eot_id;         // tokenizer.ggml.eot_token_id
  std::optional<int64_t> eom_id;         // tokenizer.ggml.eom_token_id
  std::optional<int64_t> unknown_id;     // tokenizer.ggml.unknown_token_id
  std::optional<int64_t> separator_id;   // tokenizer.ggml.seperator_token_id (GGUF's spelling)
  std::optional<int64_t> padding_id;     // tokenizer.ggml.padding_token_id
  std::optional<int64_t> mask_id;        // tokenizer.ggml.mask_token_id
  std::optional<bool> add_bos;           // tokenizer.ggml.add_bos_token
  std::optional<bool> add_eos;           // tokenizer.ggml.add_eos_token
  std::optional<bool> add_separator;     // tokenizer.ggml.add_sep_token: of WordPiece
  std::optional<bool> add_space_prefix;  // tokenizer.ggml.add_space_prefix
  std::optional<bool> lowercase;         // tokenizer.ggml.normalizer.lowercase: of WordPiece
  std::optional<bool> strip_accents;     // tokenizer.ggml.normalizer.strip_accents: as lowercase
  std::string chat_template;             // tokenizer.chat_template: Jinja, see chat_template.h
  // What NumberMerges makes of `merges`, whose place it takes; no key has it.
  std::vector<int32_t> numbered_merges;
};

struct EncodeOptions {
  // Whether the spelling of a control token in the text becomes that token. False for text that a
  // user typed, which must not be able to end a turn.
  bool parse_special = false;
  // Whether to add the beginning, end or separator tokens that the vocabulary asks for. False for
  // prompts from a chat template, which contain these tokens.
  bool add_special = false;
};

class Vocabulary;
class SpecialTokens;
class TextEncoder;

class Tokenizer {
 public:
  ~Tokenizer();

  // The ids of a text, which may have any bytes and any length. This never fails: text that the
  // vocabulary cannot spell becomes its unknown token, or is left out if it has none.
  std::vector<TokenId> Encode(std::string_view text, const EncodeOptions& options) const;
  std::vector<TokenId> Encode(std::string_view text, bool parse_special) const {
    return Encode(text, {.parse_special = parse_special});
  }

  // The bytes that the token adds to a text, which may be only a part of a character. Control and
  // unknown tokens add none, unless `with_special` asks for their spelling. `token` must be less
  // than `size`.
  std::string_view Decode(TokenId token, bool with_special = false) const;
  // The text of a sequence of tokens, without the space that Encode may put before a text. Encode
  // and DecodeAll are inverse to each other for byte-pair and SentencePiece vocabularies that have
  // all bytes.
  std::string DecodeAll(std::span<const TokenId> tokens, bool with_special = false) const;

  // Number of tokens; ids are 0 to size() - 1.
  size_t size() const;
  // The token as the vocabulary spells it.
  std::string_view Spelling(TokenId token) const;
  TokenType Type(TokenId token) const;
  std::optional<TokenId> Find(std::string_view spelling) const;

  // Tokens that the vocabulary names, if it does.
  std::optional<TokenId> bos() const;
  std::optional<TokenId> eos() const;
  bool adds_bos() const;

  // Whether a model that generates this token has ended its turn: the file's tokens for the end of
  // a sequence, turn or message, and tokens with such a spelling (<|im_end|>, <|eot_id|>,
  // <end_of_turn>, ...).
  bool IsEndOfGeneration(TokenId token) const;
  // All of them, ascending.
  std::span<const TokenId> end_of_generation() const;

 private:
  friend absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(TokenizerData data);
  Tokenizer();

  std::unique_ptr<const Vocabulary> vocabulary_;
  std::unique_ptr<const SpecialTokens> special_tokens_;
  std::unique_ptr<const TextEncoder> encoder_;
  std::vector<std::string> pieces_;  // the bytes of each token
};

// Returns InvalidArgument, with the metadata key, for an unknown model or pre-tokenizer, a
// vocabulary without tokens, lists of different lengths, an id outside of the vocabulary, or a
// merge of unknown tokens.
absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(TokenizerData data);

// Replaces the texts of merges by numbers of their symbols, of which a tokenizer is made in less
// time. Errors as those of MakeTokenizer; does nothing to a vocabulary without merges.
absl::Status NumberMerges(TokenizerData& data);

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_TOKENIZER_H_
