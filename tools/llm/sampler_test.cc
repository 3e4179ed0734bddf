#include "tools/llm/sampler.h"

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "gtest/gtest.h"

namespace tg::llm {
namespace {

using Logits = std::vector<float>;

// How often each token comes out of `count` draws.
std::map<int32_t, int> Draw(const SamplerOptions& options, const Logits& logits, int count) {
  Sampler sampler(options);
  std::map<int32_t, int> counts;
  for (int i = 0; i < count; ++i) {
    const auto token = sampler.Next(logits, {});
    EXPECT_TRUE(token.ok()) << token.status();
    ++counts[token.value_or(-1)];
  }
  return counts;
}

SamplerOptions Everything() {
  return {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .seed = 3};
}

TEST(SamplerTest, TemperatureZeroTakesTheLargestAndTheFirstOfEqualOnes) {
  Sampler sampler({});
  EXPECT_EQ(*sampler.Next(Logits{1, 3, 3, 2}, {}), 1);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(*sampler.Next(Logits{-infinity, -5}, {}), 1);
}

TEST(SamplerTest, FrequenciesAreProbabilities) {
  const Logits logits = {0, std::log(2.0F), std::log(5.0F)};
  const int count = 20000;
  auto counts = Draw(Everything(), logits, count);
  EXPECT_NEAR(counts[0], count / 8.0, 250);
  EXPECT_NEAR(counts[1], count / 4.0, 300);
  EXPECT_NEAR(counts[2], count * 5 / 8.0, 350);
  SamplerOptions cold = Everything();
  cold.temperature = 0.5;
  counts = Draw(cold, logits, count);
  EXPECT_NEAR(counts[2], count * 25 / 30.0, 300);
}

TEST(SamplerTest, CandidatesAreCut) {
  const Logits logits = {0, std::log(2.0F), std::log(5.0F), std::log(8.0F)};
  SamplerOptions options = Everything();
  options.top_k = 2;
  EXPECT_EQ(Draw(options, logits, 500).size(), 2);
  options = Everything();
  options.top_p = 0.8;  // 8/16, then 5/16
  EXPECT_EQ(Draw(options, logits, 500).size(), 2);
  options = Everything();
  options.min_p = 0.2;  // 2/8 stays, 1/8 goes
  EXPECT_EQ(Draw(options, logits, 2000).size(), 3);
  options.top_p = 0;
  EXPECT_EQ(Draw(options, logits, 50).size(), 1);
}

TEST(SamplerTest, TheSameSeedGivesTheSameTokens) {
  const Logits logits(100, 1.0F);
  SamplerOptions options = Everything();
  Sampler a(options), b(options);
  options.seed = 4;
  Sampler c(options);
  int same = 0;
  for (int i = 0; i < 50; ++i) {
    const int32_t token = *a.Next(logits, {});
    EXPECT_EQ(token, *b.Next(logits, {}));
    same += token == *c.Next(logits, {});
  }
  EXPECT_LT(same, 10);
}

TEST(SamplerTest, RepeatedTokensAreLessLikely) {
  SamplerOptions options;
  options.repeat_penalty = 2;
  options.repeat_window = 2;
  Sampler sampler(options);
  const std::vector<int32_t> text = {2, 2, 0, 1};
  // 3 / 2 and 4 / 2; token 2 is further back.
  EXPECT_EQ(*sampler.Next(Logits{3, 4, 1.9F}, text), 1);
  EXPECT_EQ(*sampler.Next(Logits{3, 4, 2.1F}, text), 2);
  // A negative logit moves away from 0.
  EXPECT_EQ(*sampler.Next(Logits{-1, -1.5F, -2.5F}, text), 0);
  EXPECT_EQ(*sampler.Next(Logits{-1, -1.5F, -1.9F}, text), 2);
}

TEST(SamplerTest, NoNumberIsAnError) {
  Sampler sampler({});
  const auto token = sampler.Next(Logits{0, std::nanf("")}, {});
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(token.status().message(), "the model gives no number as the logit of token 1");
  // Neither a larger logit before it nor one behind it hides it.
  EXPECT_FALSE(sampler.Next(Logits{2, std::nanf(""), 1}, {}).ok());
  EXPECT_FALSE(sampler.Next(Logits{0, std::nanf(""), 1}, {}).ok());
}

}  // namespace
}  // namespace tg::llm
