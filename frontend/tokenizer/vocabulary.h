// The tokens of a model, checked, with what the file leaves to be guessed.
#ifndef TG_FRONTEND_TOKENIZER_VOCABULARY_H_
#define TG_FRONTEND_TOKENIZER_VOCABULARY_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "frontend/tokenizer/pre_tokenizer.h"
#include "frontend/tokenizer/tokenizer.h"

namespace tg::tokenizer {

enum class VocabularyKind { kBytePair, kSentencePiece, kWordPiece };

class Vocabulary {
 public:
  // Errors as those of MakeTokenizer.
  static absl::StatusOr<Vocabulary> Make(TokenizerData data);

  size_t size() const { return data_.tokens.size(); }
  std::string_view Spelling(TokenId token) const { return data_.tokens[token]; }
  TokenType Type(TokenId token) const { return types_[token]; }
  float Score(TokenId token) const { return data_.scores.empty() ? 0 : data_.scores[token]; }
  std::optional<TokenId> Find(std::string_view spelling) const;
  // The token <0xAB>, or else the one whose spelling is that byte.
  std::optional<TokenId> ForByte(uint8_t byte) const;
  size_t longest_spelling() const { return longest_spelling_; }  // in bytes

  VocabularyKind kind() const { return kind_; }
  // Of byte-pair vocabularies; null for others.
  const PreTokenizerRow* pre_tokenizer() const { return pre_tokenizer_; }
  const TokenizerData& data() const { return data_; }

  std::optional<TokenId> bos() const { return bos_; }
  std::optional<TokenId> eos() const { return eos_; }
  std::optional<TokenId> unknown() const { return unknown_; }
  std::optional<TokenId> separator() const { return separator_; }
  bool adds_bos() const { return adds_bos_; }
  bool adds_eos() const { return adds_eos_; }
  bool adds_space_prefix() const { return adds_space_prefix_; }

  bool IsEndOfGeneration(TokenId token) const;
  const std::vector<TokenId>& end_of_generation() const { return end_of_generation_; }

 private:
  explicit Vocabulary(TokenizerData data) : data_(std::move(data)) {}
  absl::Status ReadKind();
  absl::Status ReadTokens();
  absl::Status ReadSpecialTokens();
  absl::StatusOr<std::optional<TokenId>> SpecialToken(const char* key, std::optional<int64_t> given,
                                                      std::optional<TokenId> otherwise) const;
  // In end_of_generation.cc.
  void FindEndOfGeneration();

  TokenizerData data_;
  VocabularyKind kind_ = VocabularyKind::kBytePair;
  const PreTokenizerRow* pre_tokenizer_ = nullptr;
  std::vector<TokenType> types_;
  // Keys are views of `data_.tokens`, whose strings never move.
  absl::flat_hash_map<std::string_view, TokenId> ids_;
  std::array<std::optional<TokenId>, 256> bytes_;
  size_t longest_spelling_ = 0;
  std::optional<TokenId> bos_, eos_, eot_, eom_, unknown_, separator_;
  bool adds_bos_ = false, adds_eos_ = false, adds_space_prefix_ = false;
  std::vector<TokenId> end_of_generation_;
};

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_VOCABULARY_H_
