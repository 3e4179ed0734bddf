#include "frontend/tokenizer/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/cat.h"

namespace tg::tokenizer {
namespace {

using absl::InvalidArgumentError;

constexpr char kKey[] = "tokenizer.ggml.";

// A list with one value for each token, or none at all.
template <class T>
absl::Status CheckLength(const char* key, const std::vector<T>& list, size_t tokens) {
  if (list.empty() || list.size() == tokens) return absl::OkStatus();
  return InvalidArgumentError(
      absl::StrCat(kKey, key, " has ", list.size(), " values for ", tokens, " tokens"));
}

// Tokens that gpt-oss's format prints.
bool IsAlwaysText(std::string_view spelling) {
  return spelling == "<|channel|>" || spelling == "<|message|>" || spelling == "<|start|>" ||
         spelling == "<|constrain|>";
}

}  // namespace

absl::StatusOr<Vocabulary> Vocabulary::Make(TokenizerData data) {
  Vocabulary vocabulary(std::move(data));
  absl::Status status = vocabulary.ReadKind();
  if (status.ok()) status = vocabulary.ReadTokens();
  if (status.ok()) status = vocabulary.ReadSpecialTokens();
  if (!status.ok()) return status;
  vocabulary.FindEndOfGeneration();
  for (size_t token = 0; token < vocabulary.size(); ++token) {
    if (IsAlwaysText(vocabulary.data_.tokens[token])) {
      vocabulary.types_[token] = TokenType::kUserDefined;
    }
  }
  return vocabulary;
}

absl::Status Vocabulary::ReadKind() {
  if (data_.model == "gpt2") {
    kind_ = VocabularyKind::kBytePair;
    pre_tokenizer_ =
        data_.pre.empty() ? &PreTokenizerFor(data_.architecture) : FindPreTokenizer(data_.pre);
    if (pre_tokenizer_ == nullptr) {
      return InvalidArgumentError(
          absl::StrCat(kKey, "pre is ", Quote(data_.pre), ", which is not known"));
    }
  } else if (data_.model == "llama") {
    kind_ = VocabularyKind::kSentencePiece;
  } else if (data_.model == "bert") {
    kind_ = VocabularyKind::kWordPiece;
  } else if (data_.model.empty()) {
    return InvalidArgumentError(absl::StrCat("the file has no ", kKey, "model"));
  } else {
    return InvalidArgumentError(absl::StrCat(kKey, "model is ", Quote(data_.model),
                                             "; known are 'gpt2', 'llama' and 'bert'"));
  }
  return absl::OkStatus();
}

absl::Status Vocabulary::ReadTokens() {
  const size_t count = data_.tokens.size();
  constexpr size_t kMostTokens = size_t{1} << 30;
  if (count == 0 || count > kMostTokens) {
    return InvalidArgumentError(absl::StrCat(kKey, "tokens has ", count, " tokens"));
  }
  absl::Status status = CheckLength("scores", data_.scores, count);
  if (status.ok()) status = CheckLength("token_type", data_.token_types, count);
  if (!status.ok()) return status;

  const auto bad_score =
      std::find_if(data_.scores.begin(), data_.scores.end(), [](float s) { return std::isnan(s); });
  if (bad_score != data_.scores.end()) {
    return InvalidArgumentError(
        absl::StrCat(kKey, "scores: that of token ", bad_score - data_.scores.begin(), " is NaN"));
  }
  types_.assign(count, TokenType::kNormal);
  ids_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto token = static_cast<TokenId>(i);
    std::string& spelling = data_.tokens[i];
    if (spelling.empty()) spelling = absl::StrCat("[EMPTY_", i, "]");
    const auto [first, is_new] = ids_.emplace(spelling, token);
    if (!is_new) {
      return InvalidArgumentError(absl::StrCat(kKey, "tokens: tokens ", first->second, " and ", i,
                                               " are both ", Quote(spelling)));
    }
    longest_spelling_ = std::max(longest_spelling_, spelling.size());
    if (data_.token_types.empty()) continue;
    const int32_t type = data_.token_types[i];
    types_[i] = type >= 1 && type <= 6 ? static_cast<TokenType>(type) : TokenType::kUndefined;
  }
  for (int byte = 0; byte < 256; ++byte) {
    bytes_[byte] = Find(absl::StrFormat("<0x%02X>", byte));
    if (!bytes_[byte]) bytes_[byte] = Find(std::string(1, static_cast<char>(byte)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<TokenId>> Vocabulary::SpecialToken(
    const char* key, std::optional<int64_t> given, std::optional<TokenId> otherwise) const {
  if (!given) {
    if (otherwise && static_cast<size_t>(*otherwise) >= size()) otherwise.reset();
    return otherwise;
  }
  if (*given < 0 || static_cast<uint64_t>(*given) >= size()) {
    return InvalidArgumentError(
        absl::StrCat(kKey, key, " is ", *given, ", but there are ", size(), " tokens"));
  }
  return static_cast<TokenId>(*given);
}

absl::Status Vocabulary::ReadSpecialTokens() {
  const auto by_kind = [this](std::optional<TokenId> sentence_piece,
                              std::optional<TokenId> word_piece) -> std::optional<TokenId> {
    if (kind_ == VocabularyKind::kSentencePiece) return sentence_piece;
    if (kind_ == VocabularyKind::kWordPiece) return word_piece;
    return std::nullopt;
  };
  std::optional<TokenId> unused;
  const struct {
    const char* key;
    std::optional<int64_t> given;
    std::optional<TokenId> otherwise;
    std::optional<TokenId>& token;
  } tokens[] = {
      {"bos_token_id", data_.bos_id, by_kind(1, 101), bos_},
      {"eos_token_id", data_.eos_id, by_kind(2, std::nullopt), eos_},
      {"eot_token_id", data_.eot_id, std::nullopt, eot_},
      {"eom_token_id", data_.eom_id, std::nullopt, eom_},
      {"unknown_token_id", data_.unknown_id, by_kind(0, 100), unknown_},
      {"seperator_token_id", data_.separator_id, by_kind(std::nullopt, 102), separator_},
      {"padding_token_id", data_.padding_id, std::nullopt, unused},
      {"mask_token_id", data_.mask_id, std::nullopt, unused},
  };
  for (const auto& row : tokens) {
    const auto token = SpecialToken(row.key, row.given, row.otherwise);
    if (!token.ok()) return token.status();
    row.token = *token;
  }
  using Flag = std::tuple<std::optional<bool>, const char*, std::optional<TokenId>>;
  for (const auto& [given, key, token] :
       {Flag{data_.add_bos, "bos", bos_}, Flag{data_.add_eos, "eos", eos_}}) {
    if (given.value_or(false) && !token) {
      return InvalidArgumentError(absl::StrCat(
          kKey, "add_", key, "_token is true, but there is no ", kKey, key, "_token_id"));
    }
  }
  const bool adds_bos = pre_tokenizer_ == nullptr || pre_tokenizer_->adds_bos;
  adds_bos_ = data_.add_bos.value_or(adds_bos) && bos_;
  adds_eos_ = data_.add_eos.value_or(false) && eos_;
  adds_space_prefix_ = data_.add_space_prefix.value_or(kind_ == VocabularyKind::kSentencePiece);
  return absl::OkStatus();
}

std::optional<TokenId> Vocabulary::Find(std::string_view spelling) const {
  const auto found = ids_.find(spelling);
  return found == ids_.end() ? std::nullopt : std::optional<TokenId>(found->second);
}

std::optional<TokenId> Vocabulary::ForByte(uint8_t byte) const { return bytes_[byte]; }

bool Vocabulary::IsEndOfGeneration(TokenId token) const {
  return std::binary_search(end_of_generation_.begin(), end_of_generation_.end(), token);
}

}  // namespace tg::tokenizer
