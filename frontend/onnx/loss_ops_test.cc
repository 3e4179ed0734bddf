#include <cmath>

#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

class LossTest : public OperatorTest {
 protected:
  LossTest()
      : log_prob_(Make(ElementType::kFloat, {3, 2}, {-1, -2, -4, -8, -16, -32})),
        target_(Make(ElementType::kInt64, {3}, {1, 0, 7})) {}

  Numbers Loss(const char* reduction, std::vector<Tensor> inputs) {
    Set("reduction", reduction);
    Set("ignore_index", int64_t{7});
    return Elements(Build("NegativeLogLikelihoodLoss", 13, std::move(inputs))[0]);
  }
  Tensor log_prob_, target_;
};

TEST_F(LossTest, IgnoresAClassThatIsNone) {
  EXPECT_EQ(Loss("none", {log_prob_, target_}), (Numbers{2, 4, 0}));
  EXPECT_EQ(Loss("sum", {log_prob_, target_}), (Numbers{6}));
  // What is ignored does not count.
  EXPECT_EQ(Loss("mean", {log_prob_, target_}), (Numbers{3}));
}

TEST_F(LossTest, TheMeanIsWeighted) {
  const Tensor weight = Make(ElementType::kFloat, {2}, {3, 1});
  EXPECT_EQ(Loss("none", {log_prob_, target_, weight}), (Numbers{2, 12, 0}));
  EXPECT_EQ(Loss("mean", {log_prob_, target_, weight}), (Numbers{14.0 / 4}));
}

TEST_F(LossTest, RefusesClassesOfAnotherRank) {
  Loss("mean", {log_prob_, Make(ElementType::kInt64, {1, 1}, {0})});
  EXPECT_EQ(error_, "classes i64[1, 1] for f32[3, 2]");
}

TEST_F(LossTest, CrossEntropyAlsoGivesLogarithms) {
  const Tensor x = Make(ElementType::kFloat, {1, 2}, {0, std::log(3.0)});
  const Tensor target = Make(ElementType::kInt64, {1}, {0});
  const std::vector<Tensor> results = Build("SoftmaxCrossEntropyLoss", 13, {x, target}, 2);
  EXPECT_NEAR(Elements(results[0]).at(0), std::log(4.0), 1e-6);
  EXPECT_NEAR(Elements(results[1]).at(1), std::log(0.75), 1e-6);
}

}  // namespace
}  // namespace tg::onnx
