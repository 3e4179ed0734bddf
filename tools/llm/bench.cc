#include "tools/llm/bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "base/status.h"

namespace tg::llm {
namespace {

constexpr int64_t kPromptTokens = 512, kReplyTokens = 128;
constexpr int kRuns = 5;

// Appends `tokens` in pieces of `step` and returns the seconds.
absl::StatusOr<double> TimeOf(TextModel& model, const std::vector<int32_t>& tokens, size_t step) {
  model.Truncate(0);
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < tokens.size(); i += step) {
    const std::span<const int32_t> rest = std::span(tokens).subspan(i);
    TG_RETURN_IF_ERROR(model.Append(rest.first(std::min(step, rest.size()))).status());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

absl::Status Measure(TextModel& model, const char* name, int64_t count, bool one_by_one) {
  std::mt19937 random(1);
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < std::min(count, model.context()); ++i) {
    tokens.push_back(static_cast<int32_t>(random() % static_cast<uint64_t>(model.vocabulary())));
  }
  const size_t step = one_by_one ? 1 : tokens.size();
  double sum = 0, squares = 0;
  for (int run = -1; run < kRuns; ++run) {
    TG_ASSIGN_OR_RETURN(const double seconds, TimeOf(model, tokens, step));
    if (run < 0) continue;  // the first one warms up
    const double rate = static_cast<double>(tokens.size()) / seconds;
    sum += rate;
    squares += rate * rate;
  }
  const double mean = sum / kRuns;
  const double deviation = std::sqrt(std::max(0.0, (squares - sum * mean) / (kRuns - 1)));
  std::printf("%s%zu  %.2f ± %.2f tokens/s\n", name, tokens.size(), mean, deviation);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunBench(TextModel& model) {
  TG_RETURN_IF_ERROR(Measure(model, "pp", kPromptTokens, false));
  return Measure(model, "tg", kReplyTokens, true);
}

}  // namespace tg::llm
