#include <algorithm>
#include <cmath>

#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

class RegionOpsTest : public OperatorTest {
 protected:
  // One element more than the image at the edges, 0 beyond.
  static double Bilinear(const Array& x, int64_t batch, int64_t channel, double row,
                         double column) {
    const int64_t height = x.shape[2], width = x.shape[3];
    if (row < -1 || row > static_cast<double>(height) || column < -1 ||
        column > static_cast<double>(width)) {
      return 0;
    }
    row = std::clamp(row, 0.0, static_cast<double>(height - 1));
    column = std::clamp(column, 0.0, static_cast<double>(width - 1));
    double sum = 0;
    for (int64_t i = 0; i < height; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        sum += std::max(0.0, 1 - std::abs(row - static_cast<double>(i))) *
               std::max(0.0, 1 - std::abs(column - static_cast<double>(j))) *
               x({batch, channel, i, j});
      }
    }
    return sum;
  }
};

// As many points as a bin has elements, whether the regions are known at import or not.
TEST_F(RegionOpsTest, AveragesAlignedRegions) {
  const Array x = Random({2, 2, 7, 6});
  const Array regions{{3, 4}, {1, 2, 9, 13, -3, -2, 4, 3, 5, 5, 5, 5}}, batches{{3}, {1, 0, 1}};
  for (const int64_t ratio : {0, 2}) {
    for (const bool known : {false, true}) {
      const auto y =
          Import("RoiAlign", 22,
                 {Input(x), known ? Known(regions) : Input(regions), Input(batches, Scalar::kI64)},
                 {Attr("output_height", 2), Attr("output_width", 3), Attr("sampling_ratio", ratio),
                  Attr("spatial_scale", 0.5)});
      ExpectElements(y[0], {3, 2, 2, 3}, [&](const Ints& at) {
        const auto edge = [&](int64_t i) { return regions({at[0], i}) / 2 - 0.5; };
        const double height = (edge(3) - edge(1)) / 2, width = (edge(2) - edge(0)) / 3;
        const int64_t rows = ratio ? ratio : static_cast<int64_t>(std::ceil(height));
        const int64_t columns = ratio ? ratio : static_cast<int64_t>(std::ceil(width));
        double sum = 0;
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            const double row = (static_cast<double>(i) + 0.5) / static_cast<double>(rows);
            const double column = (static_cast<double>(j) + 0.5) / static_cast<double>(columns);
            sum += Bilinear(x, static_cast<int64_t>(batches({at[0]})), at[1],
                            edge(1) + (static_cast<double>(at[2]) + row) * height,
                            edge(0) + (static_cast<double>(at[3]) + column) * width);
          }
        }
        return sum / static_cast<double>(std::max<int64_t>(rows * columns, 1));
      });
    }
  }
}

TEST_F(RegionOpsTest, PoolsTheGreatestOfRegions) {
  const Array x = Random({2, 2, 8, 9}, -2, -1);
  const Array regions{{3, 5}, {1, 0, 2, 7, 6, 0, 3, 3, 2, 2, 1, 4, 5, 20, 30}};
  const auto y = Import("MaxRoiPool", 22, {Input(x), Input(regions)},
                        {Attr("pooled_shape", Ints{3, 2}), Attr("spatial_scale", 0.5)});
  ExpectElements(y[0], {3, 2, 3, 2}, [&](const Ints& at) {
    const auto edge = [&](int64_t i) { return std::round(regions({at[0], i}) / 2); };
    const double height = std::max(edge(4) - edge(2) + 1, 1.0) / 3;
    const double width = std::max(edge(3) - edge(1) + 1, 1.0) / 2;
    double most = -HUGE_VAL;
    ForEach({8, 9}, [&](const Ints& t) {
      const double i = static_cast<double>(t[0]) - edge(2), j = static_cast<double>(t[1]) - edge(1);
      const auto p = static_cast<double>(at[2]), q = static_cast<double>(at[3]);
      if (i < std::floor(p * height) || i >= std::ceil((p + 1) * height)) return;
      if (j < std::floor(q * width) || j >= std::ceil((q + 1) * width)) return;
      most = std::max(most, x({static_cast<int64_t>(regions({at[0], 0})), at[1], t[0], t[1]}));
    });
    return std::isinf(most) ? 0 : most;
  });
}

// The second box is half of the first; the third touches none; the fourth is rated too low.
TEST_F(RegionOpsTest, KeepsBoxesThatOverlapLittle) {
  const Array boxes{{1, 4, 4}, {0, 0, 2, 2, 0, 0, 1, 2, 2, 3, 3, 2, 5, 5, 6, 6}};
  const Array scores{{1, 2, 4}, {0.5, 0.9, 0.6, 0.1, 0.9, 0.5, 0.6, 0.1}}, most{{1}, {2}},
      least{{1}, {0.2}};
  const auto select = [&](double threshold) {
    const Array iou{{1}, {threshold}};
    return Import(
        "NonMaxSuppression", 11,
        {Known(boxes), Known(scores), Known(most, Scalar::kI64), Known(iou), Known(least)})[0];
  };
  const Array few{{4, 3}, {0, 0, 1, 0, 0, 2, 0, 1, 0, 0, 1, 2}};
  ExpectElements(select(0.4), few.shape, [&](const Ints& at) { return few(at); });
  ExpectElements(select(0.5), few.shape, [&](const Ints& at) { return few(at); });
  // A part equal to the threshold is kept; only the greatest count ends the list.
  const Array three{{1}, {3}}, half{{1}, {0.5}};
  const auto all =
      Import("NonMaxSuppression", 11,
             {Known(boxes), Known(scores), Known(three, Scalar::kI64), Known(half), Known(least)});
  EXPECT_EQ(Evaluate(all[0]).shape, (Ints{6, 3}));
}

}  // namespace
}  // namespace tg::onnx
