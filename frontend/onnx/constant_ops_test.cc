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

}  // namespace
}  // namespace tg::onnx
