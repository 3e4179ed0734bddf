#include <algorithm>
#include <cmath>

#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

constexpr int64_t kCount = 4000;

class RandomTest : public OperatorTest {
 protected:
  Numbers Draw(const char* op, double seed) {
    Set("shape", Ints{kCount});
    Set("seed", seed);
    return Elements(Build(op, 1, {})[0]);
  }
  // The mean of f over the numbers.
  template <typename F>
  double Mean(const Numbers& numbers, F&& f) {
    double sum = 0;
    for (const double v : numbers) sum += f(v);
    return sum / static_cast<double>(numbers.size());
  }
};

TEST_F(RandomTest, UniformNumbersFillTheirRange) {
  Set("low", -2.0);
  Set("high", 6.0);
  const Numbers u = Draw("RandomUniform", 1);
  ASSERT_EQ(u.size(), static_cast<size_t>(kCount));
  EXPECT_GE(*std::min_element(u.begin(), u.end()), -2);
  EXPECT_LT(*std::max_element(u.begin(), u.end()), 6);
  // The mean's own deviation is 0.04.
  EXPECT_NEAR(Mean(u, [](double v) { return v; }), 2, 0.2);
  EXPECT_NEAR(Mean(u, [](double v) { return (v - 2) * (v - 2); }), 64.0 / 12, 0.4);
}

TEST_F(RandomTest, NormalNumbersHaveTheirMoments) {
  Set("mean", 3.0);
  Set("scale", 2.0);
  const Numbers z = Draw("RandomNormal", 1);
  EXPECT_NEAR(Mean(z, [](double v) { return v; }), 3, 0.09);
  EXPECT_NEAR(Mean(z, [](double v) { return (v - 3) * (v - 3); }), 4, 0.3);
  EXPECT_NEAR(Mean(z, [](double v) { return std::abs(v - 3) < 2; }), 0.683, 0.03);
}

TEST_F(RandomTest, SeedsDecideTheNumbers) {
  EXPECT_EQ(Draw("RandomUniform", 1), Draw("RandomUniform", 1));
  EXPECT_NE(Draw("RandomUniform", 1), Draw("RandomUniform", 2));
}

TEST_F(RandomTest, DrawsByProbability) {
  // 0 and 1 are certain; classes that have no probability are never drawn.
  const Tensor p = Make(ElementType::kFloat, {4}, {0, 1, 0, 1});
  EXPECT_EQ(Elements(Build("Bernoulli", 15, {p})[0]), (Numbers{0, 1, 0, 1}));
  const Tensor classes = Make(ElementType::kFloat, {1, 3}, {-200, 0, std::log(3.0)});
  Set("sample_size", int64_t{1000});
  Set("seed", 1.0);
  const Numbers drawn = Elements(Build("Multinomial", 7, {classes})[0]);
  ASSERT_EQ(drawn.size(), 1000u);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 0), 0);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 2)), 750, 60);
}

TEST_F(RandomTest, DropoutKeepsTheExpectation) {
  const Tensor x = Make(ElementType::kFloat, {kCount}, Numbers(kCount, 3.0));
  const Tensor ratio = Make(ElementType::kFloat, {}, {0.25});
  const auto run = [&](double trains) {
    Set("seed", 1.0);
    return Build("Dropout", 13, {x, ratio, Make(ElementType::kBool, {}, {trains})}, 2);
  };
  const std::vector<Tensor> dropped = run(1);
  const Numbers y = Elements(dropped[0]), retained = Elements(dropped[1]);
  ASSERT_EQ(y.size(), static_cast<size_t>(kCount));
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], retained[i] * 4);
  EXPECT_NEAR(Mean(retained, [](double v) { return v; }), 0.75, 0.03);
  EXPECT_EQ(run(0)[0].value, x.value);
}

}  // namespace
}  // namespace tg::onnx
