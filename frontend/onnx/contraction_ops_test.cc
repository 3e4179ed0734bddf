#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

using ContractionOpsTest = OperatorTest;

// A pivot of 0 is exchanged; the second matrix is singular.
TEST_F(ContractionOpsTest, TakesDeterminants) {
  Array x = Random({3, 6, 6});
  for (int64_t i = 0; i < 6; ++i) {
    x.data[static_cast<size_t>(i * 7)] = 0;
    x.data[static_cast<size_t>(36 + i * 6)] = 0;
  }
  // Expansion by minors.
  const std::function<double(int64_t, int64_t, Ints)> minor = [&](int64_t m, int64_t row,
                                                                  Ints columns) {
    if (columns.empty()) return 1.0;
    double sum = 0;
    for (size_t k = 0; k < columns.size(); ++k) {
      Ints rest = columns;
      rest.erase(rest.begin() + static_cast<ptrdiff_t>(k));
      sum += (k % 2 ? -1 : 1) * x({m, row, columns[k]}) * minor(m, row + 1, rest);
    }
    return sum;
  };
  ExpectElements(Import("Det", 22, {Input(x)})[0], {3}, [&](const Ints& at) {
    return minor(at[0], 0, {0, 1, 2, 3, 4, 5});
  });
}

}  // namespace
}  // namespace tg::onnx
