// Chooses the next token from a model's logits.
#ifndef TG_TOOLS_LLM_SAMPLER_H_
#define TG_TOOLS_LLM_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::llm {

struct SamplerOptions {
  double temperature = 0;  // 0: the token of the largest logit
  int64_t top_k = 40;      // how many of the largest logits; 0: all
  double top_p = 0.95;     // the likeliest tokens that have this probability together
  double min_p = 0.05;     // tokens of at least this share of the largest probability
  // Logits of the last `repeat_window` tokens are divided by this, or multiplied where negative.
  double repeat_penalty = 1;
  int64_t repeat_window = 64;
  uint64_t seed = 0;
};

// Samples a token from logits. The steps are, in this order: penalty, top-k, top-p, min-p (of
// probabilities at temperature 1), temperature. The same options and logits give the same tokens on
// every machine.
class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options) : options_(options), random_(options.seed) {}

  // `text`: the tokens so far. InvalidArgument where a logit is no number.
  absl::StatusOr<int32_t> Next(std::span<const float> logits, std::span<const int32_t> text);

 private:
  struct Candidate {
    int32_t token;
    double logit, probability;
  };

  // Sets `candidates_` to the `count` tokens of the largest logits, the best first.
  void KeepBest(size_t count);

  const SamplerOptions options_;
  std::mt19937_64 random_;
  std::vector<double> logits_;  // after the penalty
  std::vector<Candidate> candidates_;
};

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_SAMPLER_H_
