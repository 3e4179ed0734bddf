// Deferred values have the same elements as values that are kept in memory, and the memory for the
// latter is bounded before anything is computed.
#include "ir/interpret/deferred.h"

#include <string>

#include "gtest/gtest.h"
#include "ir/interpret/memory_bound.h"
#include "ir/interpret/random_data.h"
#include "ir/interpret/run.h"
#include "ir/interpret/test_util.h"
#include "ir/testing/random_graph.h"

namespace tg::interpret {
namespace {

TEST(Deferred, RandomGraphsHaveTheSameValuesAndBounds) {
  int compared = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const testing::RandomProgram program = testing::MakeRandomProgram(seed);
    InterpretOptions options = OptionsFor(*program.module);
    options.track_error = seed % 2 == 0;
    const auto held = Interpret(*program.module, "main", program.inputs, program.vars, options);
    options.max_held = static_cast<int64_t>(seed % 7);
    const auto deferred = Interpret(*program.module, "main", program.inputs, program.vars, options);
    ASSERT_EQ(held.ok(), deferred.ok()) << seed << ": " << held.status() << deferred.status();
    if (!held.ok()) continue;
    ASSERT_EQ(held->size(), deferred->size());
    for (const auto& [name, buffer] : *held) {
      const HostBuffer& other = deferred->at(name);
      ASSERT_EQ(buffer.data, other.data) << seed << " @" << name;
      ASSERT_EQ(buffer.defined, other.defined) << seed << " @" << name;
      for (size_t i = 0; i < buffer.data.size(); ++i) {
        const double a = buffer.error.empty() ? 0 : buffer.error[i];
        const double b = other.error.empty() ? 0 : other.error[i];
        ASSERT_EQ(a, b) << seed << " @" << name << " " << i;
      }
    }
    ++compared;
  }
  EXPECT_GT(compared, 200);
}

// `links` times a negation and a sum with the input, of `n` elements.
std::string Chain(int links, int64_t n) {
  const std::string size = std::to_string(n);
  std::string text = "tg 1\nmodule @m\nbuffer @x : f32[" + size + "] input\nbuffer @y : f32[1] " +
                     "output\n\ngraph @main {\n  %x = buffer @x : f32\n  %v0 = neg %x : f32\n";
  for (int i = 0; i < links; ++i) {
    text += "  %v" + std::to_string(i + 1) + " = add %v" + std::to_string(i) + ", %x : f32\n";
  }
  return text + "  %s = reduce_axis %v" + std::to_string(links) +
         " {op = add, axes = [0]} : f32\n  sink %s -> @y\n}\n";
}

int64_t PeakOf(const std::string& text, const InterpretOptions& options) {
  const auto module = ParseOrFail(text);
  return PeakBytes(*module, *module->FindGraph("main"), {}, options);
}

TEST(MemoryBound, AValueIsHeldUntilItsLastUse) {
  constexpr int64_t kElements = 1000;
  const int64_t few = PeakOf(Chain(3, kElements), {}), many = PeakOf(Chain(300, kElements), {});
  EXPECT_EQ(few, many);
  // The input, a value and what it is made of, and a little for the sum.
  EXPECT_LT(many, 4 * 8 * kElements);
}

TEST(MemoryBound, WhatIsDeferredIsNotHeld) {
  constexpr int64_t kElements = 1000;
  InterpretOptions options;
  options.max_held = 999;
  const int64_t deferred = PeakOf(Chain(100, kElements), options);
  EXPECT_LT(deferred, 12 * kElements);  // the input
  // Too many ops an element for that.
  EXPECT_GT(PeakOf(Chain(2 * kMaxDeferredOps, kElements), options), 16 * kElements);
}

TEST(MemoryBound, MoreIsAnErrorThatNamesTheValue) {
  const auto module = ParseOrFail(Chain(3, 1000));
  InterpretOptions options;
  options.max_bytes = 20000;
  const HostBuffers inputs = {{"x", F32({1000}, std::vector<double>(1000, 1.0))}};
  const auto result = Interpret(*module, "main", inputs, {}, options);
  EXPECT_EQ(
      std::string(result.status().message()),
      "graph @main, line 9: add %v1: the interpreter would hold 0.026 MB at this value, 0.008 MB "
      "of it for the value (shape [1000]); it may hold 0.020 MB");
  options.max_bytes = 40000;
  EXPECT_TRUE(Interpret(*module, "main", inputs, {}, options).ok());
}

}  // namespace
}  // namespace tg::interpret
