#include "frontend/tokenizer/special_tokens.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "absl/strings/ascii.h"

namespace tg {
namespace {

uint64_t EdgeKey(uint32_t node, char byte) {
  return uint64_t{node} << 8 | static_cast<unsigned char>(byte);
}

bool IsHidden(TokenType type) { return type == TokenType::kControl || type == TokenType::kUnknown; }

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

struct SpecialTokens::Match {
  size_t begin;
  size_t size;
  TokenId token;
};

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

std::vector<SpecialTokens::Match> SpecialTokens::FindAll(std::string_view text,
                                                         bool parse_special) const {
  std::vector<Match> matches;
  for (size_t begin = 0; begin < text.size(); ++begin) {
    uint32_t node = 0;
    for (size_t at = begin; at < text.size(); ++at) {
      const auto edge = edges_.find(EdgeKey(node, text[at]));
      if (edge == edges_.end()) break;
      node = edge->second;
      const TokenId token = ends_[node];
      if (token < 0 || (!parse_special && IsHidden(vocabulary_.Type(token)))) continue;
      matches.push_back({begin, at + 1 - begin, token});
    }
  }
  return matches;
}

std::vector<Fragment> SpecialTokens::Split(std::string_view text, bool parse_special) const {
  std::vector<Match> matches = FindAll(text, parse_special);
  std::sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    return std::tuple(b.size, a.token, a.begin) < std::tuple(a.size, b.token, b.begin);
  });
  std::map<size_t, Match> taken;  // by begin; no two overlap
  for (const Match& match : matches) {
    const auto next = taken.lower_bound(match.begin);
    if (next != taken.end() && next->first < match.begin + match.size) continue;
    if (next != taken.begin()) {
      const Match& previous = std::prev(next)->second;
      if (previous.begin + previous.size > match.begin) continue;
    }
    taken.emplace_hint(next, match.begin, match);
  }
  std::vector<Fragment> fragments;
  size_t at = 0;
  const auto add_text = [&](size_t end) {
    if (end > at) fragments.push_back({text.substr(at, end - at)});
  };
  for (const auto& [begin, match] : taken) {
    add_text(begin);
    const std::string_view spelling = text.substr(begin, match.size);
    fragments.push_back({spelling, match.token});
    at = begin + match.size;
    if (!strips_spaces_ || KeepsSpaces(spelling)) continue;
    const auto next = taken.upper_bound(begin);
    const size_t limit = next == taken.end() ? text.size() : next->first;
    while (at < limit && absl::ascii_isspace(text[at])) ++at;
  }
  add_text(text.size());
  return fragments;
}

}  // namespace tg
