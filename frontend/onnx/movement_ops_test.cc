// Operators that move elements, over symbolic extents.
#include <string>
#include <vector>

#include "frontend/onnx/testing/run_node.h"

namespace tg::onnx {
namespace {

class MovementTest : public OperatorTest {
 protected:
  // Reshape of x, whose axis 0 is n, to (a * n, b, -1).
  std::vector<Value> Reshaped(Value x, int64_t a, int64_t b) {
    const Dim n = g_->Extent(x, 0);
    const Value parts[] = {g_->Reshape(g_->DimValue(Scalar::kI64, g_->MulDim(n, a)), {1}),
                           g_->Constant1D(Scalar::kI64, {b}), g_->Constant1D(Scalar::kI64, {-1})};
    return Import("Reshape", 14, {x, g_->Concat(parts, 0)});
  }
};

TEST_F(MovementTest, FactorsOfReshapedExtentsCancel) {
  const Array x = Random({3, 8, 5});
  const Value v = SymbolicInput(x, "n", 4);
  const Value y = Reshaped(v, 2, 4)[0];
  ASSERT_EQ(error_, "");
  EXPECT_EQ(frontend::ShapeText(g_->ShapeOf(y)), "[n, 4, 5]");
  ExpectElements(y, {6, 4, 5}, [&](const Ints& at) {
    return x({at[0] / 2, at[0] % 2 * 4 + at[1], at[2]});
  });
  Reshaped(v, 3, 4);
  EXPECT_EQ(error_, "no extent makes f64[n, 8, 5] of the shape asked for");
}

// The last of the rows that windows of one element in two are cut from may end behind the axis.
TEST_F(MovementTest, WindowsThatSkipElements) {
  const Array x = Random({5});
  frontend::GraphBuilder::Window window;
  window.kernel = {1}, window.strides = {2}, window.dilations = {1};
  window.pads_begin = window.pads_end = {0};
  const Value y = g_->Windows(SymbolicInput(x, "n", 8), window, nullptr);
  ASSERT_EQ(error_, "");
  ExpectElements(y, {3, 1}, [&](const Ints& at) { return x({2 * at[0]}); });
}

}  // namespace
}  // namespace tg::onnx
