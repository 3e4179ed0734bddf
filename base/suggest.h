// Suggestions for misspelt names.
#ifndef TG_BASE_SUGGEST_H_
#define TG_BASE_SUGGEST_H_

#include <span>
#include <string>
#include <string_view>

namespace tg {

// The candidate of which `word` is a likely misspelling, or empty.
std::string_view Suggest(std::string_view word, std::span<const std::string_view> candidates);
// "; did you mean 'x'?", or empty. `sigil` is printed before the candidate ("%", "@").
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates,
                       std::string_view sigil = {});

}  // namespace tg

#endif  // TG_BASE_SUGGEST_H_
