// Finds the spellings of control and user-defined tokens in a text.
#ifndef TG_FRONTEND_TOKENIZER_SPECIAL_TOKENS_H_
#define TG_FRONTEND_TOKENIZER_SPECIAL_TOKENS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "frontend/tokenizer/vocabulary.h"

namespace tg::tokenizer {

// A part of a text: a token, or text that belongs to none.
struct Fragment {
  std::string_view text;
  TokenId token = -1;  // -1: text
};

class SpecialTokens {
 public:
  // `vocabulary` must outlive it.
  explicit SpecialTokens(const Vocabulary& vocabulary);

  // The fragments of a text, in order; none of them is empty. If spellings of tokens overlap, the
  // longest one is the token, wherever it begins; among equally long ones the token with the lowest
  // id. Control and unknown tokens are only found with `parse_special`.
  std::vector<Fragment> Split(std::string_view text, bool parse_special) const;

 private:
  // The tokens that occur in a text, in the order in which they are cut out.
  std::vector<TokenId> TokensIn(std::string_view text, bool parse_special) const;
  // Cuts a token out of a text.
  void SplitAt(TokenId token, std::string_view text, std::vector<Fragment>& out) const;

  const Vocabulary& vocabulary_;
  // A trie of the spellings: (node, byte) to node. Node 0 is the root.
  absl::flat_hash_map<uint64_t, uint32_t> edges_;
  std::vector<TokenId> ends_;  // the token that a node spells; -1: none
  bool strips_spaces_ = false;
};

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_SPECIAL_TOKENS_H_
