#include <cmath>

#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

using ConstantOpsTest = OperatorTest;

TEST_F(ConstantOpsTest, FindsUniqueSlices) {
  const Array x{{2, 4}, {2, 1, 2, 1, 0, 3, 0, -1}};
  const auto sorted = Import("Unique", 11, {Known(x, Scalar::kI64)}, {Attr("axis", -1)}, 4);
  const std::vector<Array> expected{
      {{2, 3}, {1, 1, 2, -1, 3, 0}}, {{3}, {3, 1, 0}}, {{4}, {2, 1, 2, 0}}, {{3}, {1, 1, 2}}};
  for (size_t i = 0; i < 4; ++i) {
    ExpectElements(sorted[i], expected[i].shape, [&](const Ints& at) { return expected[i](at); });
  }
  const auto found = Import("Unique", 11, {Known(x)}, {Attr("sorted", 0)}, 4);
  const std::vector<Array> in_order{{{5}, {2, 1, 0, 3, -1}},
                                    {{5}, {0, 1, 4, 5, 7}},
                                    {{8}, {0, 1, 0, 1, 2, 3, 2, 4}},
                                    {{5}, {2, 2, 2, 1, 1}}};
  for (size_t i = 0; i < 4; ++i) {
    ExpectElements(found[i], in_order[i].shape, [&](const Ints& at) { return in_order[i](at); });
  }
}

TEST_F(ConstantOpsTest, RefusesRangesWithoutLimit) {
  const auto number = [&](double v) { return Known({{}, {v}}); };
  Import("Range", 11, {number(0), number(1e30), number(1)});
  EXPECT_EQ(error_, "a range of 1e+30 elements");
  Import("Range", 11, {number(0), number(NAN), number(1)});
  EXPECT_EQ(error_, "a range of nan elements");
  Import("Range", 11, {number(0), Known({{2}, {3, 4}}), number(1)});
  EXPECT_EQ(error_, "a limit or a step that is no scalar, f64[2]");
  ExpectElements(Import("Range", 11, {number(1), number(2.5), number(1)})[0], {2},
                 [](const Ints& at) { return 1 + static_cast<double>(at[0]); });
}

TEST_F(ConstantOpsTest, RefusesNodesOfTooFewInputsOrAxes) {
  const Value x = Input(Random({2})), matrix = Input(Random({3, 2}));
  Import("BatchNormalization", 15, {x, x, x, x, x});
  EXPECT_EQ(error_, "input 0 is f64[2], of a rank below 2");
  Import("BatchNormalization", 15, {matrix, x, x, x});
  EXPECT_EQ(error_, "there is no input 4");
  Import("BatchNormalization", 15, {matrix, x, x, x, x});
  EXPECT_EQ(error_, "");
  Import("RandomNormal", 1, {}, {Attr("shape", Ints{2})}, 0);
  EXPECT_EQ(error_, "a node without outputs");
}

TEST_F(ConstantOpsTest, RefusesTablesWithoutLimit) {
  const Value x = Input(Random({1, 1, 2, 2}));
  const auto resize = [&](double scale) {
    Import("Resize", 10, {x, Known({{4}, {1, 1, scale, 1}})});
    return error_;
  };
  EXPECT_EQ(resize(1e12), "an axis of 2 elements resized to 2e+12");
  EXPECT_EQ(resize(2), "");
  Import("SplitToSequence", 11, {Input(Array{{5000}, Numbers(5000)})});
  EXPECT_EQ(error_, "a split into 5000 tensors, more than 4096");
}

TEST_F(ConstantOpsTest, NonZeroOfAnEmptyTensor) {
  EXPECT_EQ(Shape(Build("NonZero", 13, {Make(ElementType::kFloat, {0, 3}, {})})[0]), "[2, 0]");
  EXPECT_EQ(error_, "");
}

}  // namespace
}  // namespace tg::onnx
