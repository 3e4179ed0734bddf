// Which tokens end a turn. Files name some of them; others are known by their spelling alone.
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "frontend/tokenizer/vocabulary.h"

namespace tg::tokenizer {
namespace {

constexpr std::string_view kEnds[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
};

}  // namespace

void Vocabulary::FindEndOfGeneration() {
  std::set<TokenId> ends;
  const auto add = [&](TokenId token) {
    ends.insert(token);
    types_[token] = TokenType::kControl;
  };
  const auto has = [&](std::string_view spelling) { return Find(spelling).has_value(); };
  for (const std::string_view spelling : kEnds) {
    if (const std::optional<TokenId> token = Find(spelling)) add(*token);
  }
  // Tokens that separate files and repositories, or that pad, in models of code: a reply ends
  // before them. From each list the first token that the vocabulary has is taken.
  const std::vector<std::string_view> borders[] = {
      {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"},
      {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"},
      {"<|file_sep|>"},
  };
  for (const auto& spellings : borders) {
    const auto found = std::find_if(spellings.begin(), spellings.end(), has);
    if (found != spellings.end()) add(*Find(*found));
  }
  for (const std::optional<TokenId>& token : {eos_, eot_, eom_}) {
    if (token) ends.insert(*token);
  }
  // In these two formats the token ends only a part of a turn.
  const auto remove = [&](std::string_view spelling, TokenType type) {
    const std::optional<TokenId> token = Find(spelling);
    if (!token || ends.erase(*token) == 0) return;
    types_[*token] = type;
  };
  if ((has("<|return|>") && (has("<|call|>") || has("<|calls|>"))) ||
      (has("<|flush|>") && (has("<|call|>") || has("<|calls|>")))) {
    remove("<|end|>", TokenType::kUserDefined);
  }
  if (has("<|tool_response>")) remove("</s>", TokenType::kNormal);
  end_of_generation_.assign(ends.begin(), ends.end());
}

}  // namespace tg::tokenizer
