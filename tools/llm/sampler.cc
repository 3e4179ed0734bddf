#include "tools/llm/sampler.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/base/status.h"

namespace tg {

absl::StatusOr<int32_t> Sampler::Next(std::span<const float> logits,
                                      std::span<const int32_t> text) {
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i])) {
      return runtime::InvalidArgument("the model gives no number as the logit of token ", i);
    }
    candidates_.push_back({static_cast<int32_t>(i), logits[i], 0});
  }
  if (options_.repeat_penalty != 1) {
    const size_t count = std::min(text.size(), static_cast<size_t>(options_.repeat_window));
    const std::set<int32_t> recent(text.end() - static_cast<ptrdiff_t>(count), text.end());
    for (const int32_t token : recent) {
      double& logit = candidates_[static_cast<size_t>(token)].logit;
      logit = logit > 0 ? logit / options_.repeat_penalty : logit * options_.repeat_penalty;
    }
  }
  // Equal logits are in the order of tokens.
  const auto is_better = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  if (options_.temperature <= 0) {
    return std::min_element(candidates_.begin(), candidates_.end(), is_better)->token;
  }
  size_t kept = candidates_.size();
  if (options_.top_k > 0) kept = std::min(kept, static_cast<size_t>(options_.top_k));
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<ptrdiff_t>(kept),
                    candidates_.end(), is_better);
  candidates_.resize(kept);
  double sum = 0;
  for (Candidate& c : candidates_) {
    sum += c.probability = std::exp(c.logit - candidates_[0].logit);
  }
  double reached = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (i > 0 && (reached >= options_.top_p * sum ||
                  candidates_[i].probability < options_.min_p * candidates_[0].probability)) {
      candidates_.resize(i);
      break;
    }
    reached += candidates_[i].probability;
  }
  sum = 0;
  for (Candidate& c : candidates_) {
    sum += c.probability = std::exp((c.logit - candidates_[0].logit) / options_.temperature);
  }
  // 53 bits of a number below 1: distributions of the standard library differ between machines.
  double place = static_cast<double>(random_() >> 11) * 0x1p-53 * sum;
  for (const Candidate& c : candidates_) {
    place -= c.probability;
    if (place < 0) return c.token;
  }
  return candidates_.back().token;
}

}  // namespace tg
