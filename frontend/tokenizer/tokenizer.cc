#include "frontend/tokenizer/tokenizer.h"

#include <utility>

#include "base/check.h"
#include "frontend/tokenizer/special_tokens.h"
#include "frontend/tokenizer/text_encoder.h"
#include "frontend/tokenizer/vocabulary.h"

namespace tg::tokenizer {
namespace {

absl::StatusOr<std::unique_ptr<TextEncoder>> MakeEncoder(const Vocabulary& vocabulary) {
  switch (vocabulary.kind()) {
    case VocabularyKind::kBytePair:
      return MakeBytePairEncoder(vocabulary);
    case VocabularyKind::kSentencePiece:
      return MakeSentencePieceEncoder(vocabulary);
    case VocabularyKind::kWordPiece:
      return MakeWordPieceEncoder(vocabulary);
  }
  TG_CHECK(false);
  return nullptr;
}

// The byte of a token <0xAB>, or nothing.
std::optional<char> ByteOf(std::string_view spelling) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  if (spelling.size() != 6 || spelling.substr(0, 3) != "<0x" || spelling[5] != '>') return {};
  const int high = digit(spelling[3]), low = digit(spelling[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

std::string PieceOf(const Vocabulary& vocabulary, const TextEncoder& encoder, TokenId token) {
  const std::string_view spelling = vocabulary.Spelling(token);
  switch (vocabulary.Type(token)) {
    case TokenType::kNormal:
      return encoder.Piece(spelling);
    case TokenType::kByte:
      if (const std::optional<char> byte = ByteOf(spelling)) return std::string(1, *byte);
      return std::string(spelling);
    case TokenType::kControl:
    case TokenType::kUnknown:
    case TokenType::kUserDefined:
      return std::string(spelling);
    case TokenType::kUndefined:
    case TokenType::kUnused:
      return "";
  }
  return "";
}

}  // namespace

Tokenizer::Tokenizer() = default;
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  const bool is_word_piece = vocabulary_->kind() == VocabularyKind::kWordPiece;
  std::vector<TokenId> out;
  if (options.add_special && vocabulary_->bos() && (vocabulary_->adds_bos() || is_word_piece)) {
    out.push_back(*vocabulary_->bos());
  }
  bool first = true;
  for (const Fragment& fragment : special_tokens_->Split(text, options.parse_special)) {
    if (fragment.token >= 0) {
      out.push_back(fragment.token);
    } else {
      encoder_->Encode(fragment.text, first, out);
    }
    first = fragment.token >= 0;
  }
  if (!options.add_special) return out;
  std::optional<TokenId> end;
  if (is_word_piece && vocabulary_->data().add_separator.value_or(true)) {
    end = vocabulary_->separator();
  } else if (vocabulary_->adds_eos()) {
    end = vocabulary_->eos();
  }
  if (end) out.push_back(*end);
  return out;
}

std::string_view Tokenizer::Decode(TokenId token, bool with_special) const {
  TG_CHECK(token >= 0 && static_cast<size_t>(token) < size());
  return !with_special && IsHidden(Type(token)) ? std::string_view() : pieces_[token];
}

std::string Tokenizer::DecodeAll(std::span<const TokenId> tokens, bool with_special) const {
  const bool drops_space =
      vocabulary_->adds_space_prefix() || vocabulary_->kind() == VocabularyKind::kWordPiece;
  std::string text;
  bool first = true;
  for (const TokenId token : tokens) {
    std::string_view piece = Decode(token, with_special);
    const bool is_text = !IsHidden(Type(token)) && Type(token) != TokenType::kUserDefined;
    if (first && is_text && drops_space && piece.substr(0, 1) == " ") piece.remove_prefix(1);
    first = !is_text;
    text += piece;
  }
  return text;
}

size_t Tokenizer::size() const { return vocabulary_->size(); }

std::string_view Tokenizer::Spelling(TokenId token) const {
  TG_CHECK(token >= 0 && static_cast<size_t>(token) < size());
  return vocabulary_->Spelling(token);
}

TokenType Tokenizer::Type(TokenId token) const {
  TG_CHECK(token >= 0 && static_cast<size_t>(token) < size());
  return vocabulary_->Type(token);
}

std::optional<TokenId> Tokenizer::Find(std::string_view spelling) const {
  return vocabulary_->Find(spelling);
}

std::optional<TokenId> Tokenizer::bos() const { return vocabulary_->bos(); }
std::optional<TokenId> Tokenizer::eos() const { return vocabulary_->eos(); }
bool Tokenizer::adds_bos() const { return vocabulary_->adds_bos(); }

bool Tokenizer::IsEndOfGeneration(TokenId token) const {
  return vocabulary_->IsEndOfGeneration(token);
}

std::span<const TokenId> Tokenizer::end_of_generation() const {
  return vocabulary_->end_of_generation();
}

absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(TokenizerData data) {
  auto vocabulary = Vocabulary::Make(std::move(data));
  if (!vocabulary.ok()) return vocabulary.status();
  std::unique_ptr<Tokenizer> tokenizer(new Tokenizer());
  tokenizer->vocabulary_ = std::make_unique<const Vocabulary>(*std::move(vocabulary));
  tokenizer->special_tokens_ = std::make_unique<const SpecialTokens>(*tokenizer->vocabulary_);
  auto encoder = MakeEncoder(*tokenizer->vocabulary_);
  if (!encoder.ok()) return encoder.status();
  tokenizer->encoder_ = *std::move(encoder);
  tokenizer->pieces_.reserve(tokenizer->size());
  for (size_t token = 0; token < tokenizer->size(); ++token) {
    tokenizer->pieces_.push_back(
        PieceOf(*tokenizer->vocabulary_, *tokenizer->encoder_, static_cast<TokenId>(token)));
  }
  return tokenizer;
}

}  // namespace tg::tokenizer
