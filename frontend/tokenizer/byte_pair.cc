// Byte-pair encoding over GPT-2's alphabet of bytes: neighbouring symbols inside a word are merged
// in the order of the list of merges.
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/byte_alphabet.h"
#include "frontend/tokenizer/merge_symbols.h"
#include "frontend/tokenizer/pre_tokenizer.h"
#include "frontend/tokenizer/text_encoder.h"

namespace tg::tokenizer {
namespace {

// Symbols have numbers: first the tokens, then the strings that bytes and merges name and the
// vocabulary lacks.
class SymbolNumbers {
 public:
  explicit SymbolNumbers(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
    for (int byte = 0; byte < 256; ++byte) {
      bytes_[byte] = NumberOf(std::string(SpellByte(static_cast<uint8_t>(byte))));
    }
  }

  int32_t NumberOf(const std::string& spelling) {
    if (const auto token = vocabulary_.Find(spelling)) return *token;
    const auto next = static_cast<int32_t>(vocabulary_.size() + others_.size());
    return others_.emplace(spelling, next).first->second;
  }

  // Of each merge its two symbols and the one that they become.
  absl::StatusOr<std::vector<int32_t>> OfMerges() {
    std::vector<int32_t> numbers;
    const std::vector<std::string>& merges = vocabulary_.data().merges;
    numbers.reserve(3 * merges.size());
    for (size_t rank = 0; rank < merges.size(); ++rank) {
      const std::string& merge = merges[rank];
      // The first character may itself be a space in files that do not spell it otherwise.
      const size_t space = merge.find(' ', 1);
      if (space == merge.npos) {
        return absl::InvalidArgumentError(absl::StrCat("tokenizer.ggml.merges: merge ", rank, ", '",
                                                       merge, "', is not two symbols"));
      }
      const std::string left = merge.substr(0, space), right = merge.substr(space + 1);
      numbers.push_back(NumberOf(left));
      numbers.push_back(NumberOf(right));
      numbers.push_back(NumberOf(left + right));
    }
    return numbers;
  }

  const std::array<int32_t, 256>& bytes() const { return bytes_; }

 private:
  const Vocabulary& vocabulary_;
  std::map<std::string, int32_t> others_;
  std::array<int32_t, 256> bytes_{};
};

class BytePairEncoder : public TextEncoder {
 public:
  explicit BytePairEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), pre_tokenizer_(*vocabulary.pre_tokenizer()) {}

  absl::Status Init() {
    SymbolNumbers symbols(vocabulary_);
    bytes_ = symbols.bytes();
    std::vector<int32_t> own;
    std::span<const int32_t> numbers = vocabulary_.data().numbered_merges;
    if (numbers.empty()) {
      absl::StatusOr<std::vector<int32_t>> made = symbols.OfMerges();
      if (!made.ok()) return made.status();
      own = *std::move(made);
      numbers = own;
    }
    if (numbers.size() % 3 != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(numbers.size(), " numbers of merges are not three of each"));
    }
    const size_t merges = numbers.size() / 3;
    merges_.reserve(merges);
    for (size_t rank = 0; rank < merges; ++rank) {
      const std::span<const int32_t> merge = numbers.subspan(3 * rank, 3);
      merges_.emplace(PairKey(merge[0], merge[1]),
                      Joined<int32_t>{static_cast<int32_t>(rank), merge[2]});
    }
    if (!vocabulary_.pre_tokenizer()->ignores_merges) return absl::OkStatus();
    for (size_t i = 0; i < vocabulary_.size(); ++i) {
      const auto token = static_cast<TokenId>(i);
      auto bytes = UnspellBytes(vocabulary_.Spelling(token));
      if (!bytes) continue;
      word_bytes_.push_back(*std::move(bytes));
      words_.emplace(word_bytes_.back(), token);
    }
    return absl::OkStatus();
  }

  void Encode(std::string_view text, bool, std::vector<TokenId>& out) const override {
    std::vector<Symbol> symbols;
    for (const std::string_view word : pre_tokenizer_.Split(text)) {
      if (const auto token = words_.find(word); token != words_.end()) {
        out.push_back(token->second);
      } else {
        EncodeWord(word, symbols, out);
      }
    }
  }

  std::string Piece(std::string_view spelling) const override {
    return UnspellBytes(spelling).value_or(std::string(spelling));
  }

 private:
  static uint64_t PairKey(int32_t left, int32_t right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  }

  // `symbols` is scratch memory.
  void EncodeWord(std::string_view word, std::vector<Symbol>& symbols,
                  std::vector<TokenId>& out) const {
    symbols.clear();
    for (size_t i = 0; i < word.size(); ++i) {
      symbols.push_back({.begin = i, .size = 1, .id = bytes_[static_cast<uint8_t>(word[i])]});
    }
    MergeSymbols<int32_t>(symbols, [this](const Symbol& left, const Symbol& right) {
      const auto merge = merges_.find(PairKey(left.id, right.id));
      return merge == merges_.end() ? std::nullopt : std::optional(merge->second);
    });
    for (int32_t i = 0; i >= 0; i = symbols[i].next) Append(symbols[i], word, out);
  }

  void Append(const Symbol& symbol, std::string_view word, std::vector<TokenId>& out) const {
    const auto is_token = [this](int32_t id) {
      return static_cast<size_t>(id) < vocabulary_.size();
    };
    if (is_token(symbol.id)) {
      out.push_back(symbol.id);
      return;
    }
    for (const char byte : word.substr(symbol.begin, symbol.size)) {
      const int32_t id = bytes_[static_cast<uint8_t>(byte)];
      if (is_token(id)) out.push_back(id);
    }
  }

  const Vocabulary& vocabulary_;
  const PreTokenizer pre_tokenizer_;
  std::array<int32_t, 256> bytes_{};
  absl::flat_hash_map<uint64_t, Joined<int32_t>> merges_;
  // The tokens by their bytes, if words that are tokens are not merged; otherwise empty.
  absl::flat_hash_map<std::string_view, TokenId> words_;
  std::deque<std::string> word_bytes_;  // which never move
};

}  // namespace

absl::StatusOr<std::unique_ptr<TextEncoder>> MakeBytePairEncoder(const Vocabulary& vocabulary) {
  if (vocabulary.data().merges.empty() && vocabulary.data().numbered_merges.empty()) {
    return absl::InvalidArgumentError("the file has no tokenizer.ggml.merges");
  }
  auto encoder = std::make_unique<BytePairEncoder>(vocabulary);
  if (const absl::Status status = encoder->Init(); !status.ok()) return status;
  return encoder;
}

absl::Status NumberMerges(TokenizerData& data) {
  if (data.merges.empty()) return absl::OkStatus();
  absl::StatusOr<Vocabulary> vocabulary = Vocabulary::Make(data);
  if (!vocabulary.ok()) return vocabulary.status();
  if (vocabulary->kind() != VocabularyKind::kBytePair) return absl::OkStatus();
  absl::StatusOr<std::vector<int32_t>> numbers = SymbolNumbers(*vocabulary).OfMerges();
  if (!numbers.ok()) return numbers.status();
  data.numbered_merges = *std::move(numbers);
  data.merges.clear();
  return absl::OkStatus();
}

}  // namespace tg::tokenizer
