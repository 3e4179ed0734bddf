// Elements by index, where an index may be outside of its axis.
#include "frontend/onnx/testing/run_node.h"

namespace tg::onnx {
namespace {

class GatherTest : public OperatorTest {};

TEST_F(GatherTest, AnIndexOutsideOfTheAxisGives0) {
  const Array x = Random({3, 2});
  const Numbers at = {-7, -4, -3, -1, 0, 2, 3, 9, 1e12, -1e12};
  const auto count = static_cast<int64_t>(at.size());
  const std::vector<Array> y =
      RunNode("", "Gather", {x, Array{{count}, at, Scalar::kI64}}, {Attr("axis", 0)}, 1);
  ASSERT_FALSE(y.empty()) << error_;
  ASSERT_EQ(y[0].shape, (Ints{count, 2}));
  for (int64_t i = 0; i < count; ++i) {
    const double index = at[static_cast<size_t>(i)];
    for (int64_t k = 0; k < 2; ++k) {
      const bool is_inside = index >= -3 && index < 3;
      const auto row = static_cast<int64_t>(index < 0 ? index + 3 : index);
      EXPECT_EQ(y[0]({i, k}), is_inside ? x({row, k}) : 0) << index;
    }
  }
}

}  // namespace
}  // namespace tg::onnx
