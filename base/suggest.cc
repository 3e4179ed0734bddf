#include "base/suggest.h"

#include <algorithm>
#include <vector>

namespace tg {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualWithoutCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return Lower(x) == Lower(y); });
}

// The least number of letters that are inserted, removed or replaced to make `b` of `a`; `limit` if
// it is not less than that.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit) {
  const size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference >= limit) return limit;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return std::min(row[b.size()], limit);
}

}  // namespace

std::string_view Suggest(std::string_view word, std::span<const std::string_view> candidates) {
  // At most a third of the letters may differ, and fewer than all of a short word.
  if (word.size() < 2) return {};
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::string_view result;
  const std::string_view wanted = word.substr(0, 64);
  for (const std::string_view c : candidates) {
    if (c.empty()) continue;
    // A difference only in case is the likeliest mistake.
    const bool same = word.size() == c.size() && EqualWithoutCase(wanted, c);
    const size_t distance = same ? 0 : EditDistance(wanted, c, best);
    if (distance >= best) continue;
    best = distance;
    result = c;
  }
  return result;
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates,
                       std::string_view sigil) {
  const std::string_view best = Suggest(word, candidates);
  if (best.empty()) return {};
  return "; did you mean '" + std::string(sigil) + std::string(best) + "'?";
}

}  // namespace tg
