#include "tools/llm/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/status.h"

namespace tg::llm {
namespace {

// The index of the largest logit, the first one among equals, or of the first one that is no
// number.
size_t Likeliest(std::span<const float> logits) {
  float best = -std::numeric_limits<float>::infinity();
  size_t index = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] <= best) continue;
    index = i;
    if (std::isnan(logits[i])) break;
    best = logits[i];
  }
  return index;
}

}  // namespace

absl::StatusOr<int32_t> Sampler::Next(std::span<const float> logits,
                                      std::span<const int32_t> text) {
  const size_t likeliest = Likeliest(logits);
  if (std::isnan(logits[likeliest])) {
    return InvalidArgument("the model gives no number as the logit of token ", likeliest);
  }
  if (options_.temperature <= 0 && options_.repeat_penalty == 1) {
    return static_cast<int32_t>(likeliest);
  }
  logits_.assign(logits.begin(), logits.end());
  if (options_.repeat_penalty != 1) {
    const size_t count = std::min(text.size(), static_cast<size_t>(options_.repeat_window));
    const std::set<int32_t> recent(text.end() - static_cast<ptrdiff_t>(count), text.end());
    for (const int32_t token : recent) {
      double& logit = logits_[static_cast<size_t>(token)];
      logit = logit > 0 ? logit / options_.repeat_penalty : logit * options_.repeat_penalty;
    }
  }
  if (options_.temperature <= 0) {
    return static_cast<int32_t>(std::max_element(logits_.begin(), logits_.end()) - logits_.begin());
  }
  KeepBest(options_.top_k > 0 ? std::min(logits_.size(), static_cast<size_t>(options_.top_k))
                              : logits_.size());
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

void Sampler::KeepBest(size_t count) {
  // Equal logits are in the order of tokens.
  const auto is_better = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  // A heap with the worst candidate at its front.
  candidates_.clear();
  for (size_t i = 0; i < logits_.size(); ++i) {
    if (candidates_.size() == count) {
      if (logits_[i] <= candidates_.front().logit) continue;
      std::pop_heap(candidates_.begin(), candidates_.end(), is_better);
      candidates_.pop_back();
    }
    candidates_.push_back({static_cast<int32_t>(i), logits_[i], 0});
    std::push_heap(candidates_.begin(), candidates_.end(), is_better);
  }
  std::sort_heap(candidates_.begin(), candidates_.end(), is_better);
}

}  // namespace tg::llm
