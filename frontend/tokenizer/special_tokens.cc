#include "frontend/tokenizer/special_tokens.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"

namespace tg::tokenizer {
namespace {

uint64_t EdgeKey(uint32_t node, char byte) {
  return uint64_t{node} << 8 | static_cast<unsigned char>(byte);
}

bool IsSpecial(TokenType type) { return IsHidden(type) || type == TokenType::kUserDefined; }

// Spaces after a special token of Phi-3 are no text. Nothing but the model's name says so.
bool StripsSpaces(const TokenizerData& data) {
  const std::string name = absl::AsciiStrToLower(data.name);
  return name.find("phi-3") != name.npos || name.find("phi3") != name.npos;
}

bool KeepsSpaces(std::string_view spelling) {
  return spelling == "<unk>" || spelling == "<s>" || spelling == "<|endoftext|>";
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary), ends_(1, -1), strips_spaces_(StripsSpaces(vocabulary.data())) {
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto token = static_cast<TokenId>(i);
    if (!IsSpecial(vocabulary.Type(token))) continue;
    uint32_t node = 0;
    for (const char byte : vocabulary.Spelling(token)) {
      const auto [edge, is_new] = edges_.emplace(EdgeKey(node, byte), ends_.size());
      node = edge->second;
      if (is_new) ends_.push_back(-1);
    }
    ends_[node] = token;
  }
}

std::vector<TokenId> SpecialTokens::TokensIn(std::string_view text, bool parse_special) const {
  absl::flat_hash_set<TokenId> found;
  for (size_t begin = 0; begin < text.size(); ++begin) {
    uint32_t node = 0;
    for (size_t at = begin; at < text.size(); ++at) {
      const auto edge = edges_.find(EdgeKey(node, text[at]));
      if (edge == edges_.end()) break;
      node = edge->second;
      if (ends_[node] >= 0) found.insert(ends_[node]);
    }
  }
  std::vector<TokenId> tokens;
  for (const TokenId token : found) {
    if (parse_special || !IsHidden(vocabulary_.Type(token))) tokens.push_back(token);
  }
  std::sort(tokens.begin(), tokens.end(), [this](TokenId a, TokenId b) {
    const size_t size_a = vocabulary_.Spelling(a).size(), size_b = vocabulary_.Spelling(b).size();
    return std::tuple(size_b, a) < std::tuple(size_a, b);
  });
  return tokens;
}

void SpecialTokens::SplitAt(TokenId token, std::string_view text,
                            std::vector<Fragment>& out) const {
  const std::string_view spelling = vocabulary_.Spelling(token);
  const bool strips = strips_spaces_ && !KeepsSpaces(spelling);
  for (size_t at; (at = text.find(spelling)) != text.npos;) {
    if (at > 0) out.push_back({text.substr(0, at)});
    out.push_back({text.substr(at, spelling.size()), token});
    text.remove_prefix(at + spelling.size());
    while (strips && !text.empty() && absl::ascii_isspace(text.front())) text.remove_prefix(1);
  }
  if (!text.empty()) out.push_back({text});
}

std::vector<Fragment> SpecialTokens::Split(std::string_view text, bool parse_special) const {
  if (text.empty()) return {};
  std::vector<Fragment> fragments = {{text}};
  for (const TokenId token : TokensIn(text, parse_special)) {
    std::vector<Fragment> split;
    for (const Fragment& fragment : fragments) {
      if (fragment.token >= 0) {
        split.push_back(fragment);
      } else {
        SplitAt(token, fragment.text, split);
      }
    }
    fragments = std::move(split);
  }
  return fragments;
}

}  // namespace tg::tokenizer
