#include <algorithm>
#include <cmath>

#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

struct Sampling {
  std::string_view mode, padding;
  bool aligned;
};

// Where element i beyond an axis of n elements is found; -1: it is 0.
int64_t Inside(const Sampling& s, int64_t i, int64_t n) {
  if (s.padding == "border") return std::clamp<int64_t>(i, 0, n - 1);
  if (s.padding == "zeros") return i < 0 || i >= n ? -1 : i;
  if (n == 1) return 0;
  while (i < 0 || i >= n) {
    if (i < 0) i = s.aligned ? -i : -1 - i;
    if (i >= n) i = s.aligned ? 2 * (n - 1) - i : 2 * n - 1 - i;
  }
  return i;
}

double Kernel(const Sampling& s, double d) {
  d = std::abs(d);
  if (s.mode == "nearest") return d == 0 ? 1 : 0;
  if (s.mode == "linear") return std::max(0.0, 1 - d);
  const double a = -0.75;
  if (d >= 2) return 0;
  return d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1
                : a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
}

class SamplingOpsTest : public OperatorTest {
 protected:
  // The sum over all elements within the kernel's reach.
  static double Sampled(const Sampling& s, const Array& x, int64_t channel, Ints extents,
                        std::vector<double> at) {
    const size_t n = extents.size();
    Ints low(n), reach(n, 6);
    for (size_t i = 0; i < n; ++i) {
      const auto last = static_cast<double>(extents[i]) - 1;
      if (s.mode == "nearest") at[i] = std::nearbyint(at[i]);
      const double half = s.aligned ? 0 : 0.5;
      if (s.padding == "border" && (at[i] < -half || at[i] > last + half)) {
        at[i] = std::clamp(at[i], 0.0, last);
      }
      low[i] = static_cast<int64_t>(std::floor(at[i])) - 2;
    }
    double sum = 0;
    ForEach(reach, [&](const Ints& t) {
      Ints place{0, channel};
      double weight = 1;
      for (size_t i = 0; i < n; ++i) {
        weight *= Kernel(s, at[i] - static_cast<double>(low[i] + t[i]));
        place.push_back(Inside(s, low[i] + t[i], extents[i]));
        if (place.back() < 0) weight = 0;
      }
      if (weight != 0) sum += weight * x(place);
    });
    return sum;
  }
};

TEST_F(SamplingOpsTest, SamplesAtAGrid) {
  for (const std::string_view mode : {"nearest", "linear", "cubic"}) {
    for (const std::string_view padding : {"zeros", "border", "reflection"}) {
      for (const bool aligned : {false, true}) {
        const Sampling s{mode, padding, aligned};
        const Ints extents{4, 5};
        const Array x = Random({1, 2, 4, 5}), grid = Random({1, 3, 2, 2}, -2, 2);
        const auto y = Import("GridSample", 22, {Input(x), Input(grid)},
                              {Attr("mode", mode), Attr("padding_mode", padding),
                               Attr("align_corners", aligned ? 1 : 0)});
        ExpectElements(y[0], {1, 2, 3, 2}, [&](const Ints& at) {
          std::vector<double> place;
          for (int64_t i = 0; i < 2; ++i) {
            const double v = grid({0, at[2], at[3], 1 - i});
            const auto n = static_cast<double>(extents[static_cast<size_t>(i)]);
            place.push_back(aligned ? (v + 1) / 2 * (n - 1) : ((v + 1) * n - 1) / 2);
          }
          return Sampled(s, x, at[1], extents, place);
        });
      }
    }
  }
}

TEST_F(SamplingOpsTest, SamplesFarBeyondAnAxisOfOneElement) {
  const Array x{{1, 1, 1, 1}, {3}}, grid{{1, 1, 2, 2}, {1e30, -1e30, 0, 0}};
  for (const std::string_view padding : {"zeros", "border", "reflection"}) {
    for (const bool aligned : {false, true}) {
      const auto y = Import("GridSample", 16, {Input(x), Input(grid)},
                            {Attr("mode", "bilinear"), Attr("padding_mode", padding),
                             Attr("align_corners", aligned ? 1 : 0)});
      // Aligned, all of the grid is the center of the one element.
      const bool outside = padding == "zeros" && !aligned;
      ExpectElements(y[0], {1, 1, 1, 2},
                     [&](const Ints& at) { return outside && at[3] == 0 ? 0 : 3; });
    }
  }
}

TEST_F(SamplingOpsTest, RefusesStridesOf0) {
  const Array image{{2}, {4, 4}}, block{{2}, {2, 2}};
  Import("Col2Im", 18,
         {Input(Random({1, 4, 9})), Known(image, Scalar::kI64), Known(block, Scalar::kI64)},
         {Attr("strides", Ints{1, 0})});
  EXPECT_EQ(error_, "blocks of 2 axes in f64[1, 4, 9] for an image of 2");
  const Value x = Input(Random({1, 1, 4, 4})), weight = Input(Random({1, 1, 2, 2}));
  Import("Conv", 22, {x, weight}, {Attr("strides", Ints{1, 0}), Attr("auto_pad", "SAME_UPPER")});
  EXPECT_EQ(error_, "a window, stride or dilation below 1");
  Import("DeformConv", 22, {x, weight, Input(Random({1, 8, 3, 3}))}, {Attr("strides", Ints{0, 1})});
  EXPECT_EQ(error_, "a window, stride or dilation below 1");
}

// Symbolic axes give what axes of this many elements give with the pads as numbers.
TEST_F(SamplingOpsTest, PadsWindowsOverSymbolicAxes) {
  using Attributes = std::vector<Attribute>;
  const auto compare = [&](std::string_view op, int64_t n, const Attributes& asked, Attributes told,
                           const Attributes& both) {
    const Array x = Random({n, 1, 2}), weight = Random({3, 2, 5});
    const auto windows = [&](Value v, Attributes attributes) {
      std::vector<Value> inputs{g_->Permute(v, {1, 2, 0})};
      if (op == "Conv") inputs.push_back(Known(weight));
      attributes.insert(attributes.end(), both.begin(), both.end());
      return Import(op, 19, inputs, attributes)[0];
    };
    const Array expected = Evaluate(windows(Known(x), std::move(told)));
    const Value open = windows(SymbolicInput(x, "n", 12), asked);
    ASSERT_EQ(error_, "");
    ExpectElements(open, expected.shape, [&](const Ints& at) { return expected(at); });
  };
  const Attribute kernel = Attr("kernel_shape", Ints{5});
  for (const int64_t n : {1, 4, 7, 12}) {
    for (int64_t stride = 1; stride <= 5; ++stride) {
      const Attribute strides = Attr("strides", Ints{stride});
      const int64_t all = ((n + stride - 1) / stride - 1) * stride + 5 - n;
      for (const bool upper : {false, true}) {
        const int64_t begin = upper ? all / 2 : all - all / 2;
        const Attributes asked{Attr("auto_pad", upper ? "SAME_UPPER" : "SAME_LOWER")};
        const Attributes told{Attr("pads", Ints{begin, all - begin})};
        compare("Conv", n, asked, told, {strides});
        compare("MaxPool", n, asked, told, {strides, kernel});
        for (const int counts : {0, 1})
          compare("AveragePool", n, asked, told,
                  {strides, kernel, Attr("count_include_pad", counts)});
      }
      if (n < 3 || stride > 3) continue;
      const Attributes ceil{Attr("pads", Ints{2, 2}), Attr("ceil_mode", 1)};
      for (const char* op : {"MaxPool", "AveragePool"})
        compare(op, n, ceil, ceil, {strides, kernel});
    }
  }
}

TEST_F(SamplingOpsTest, RefusesAGridOfOtherAxes) {
  Import("GridSample", 20, {Input(Random({1, 1, 4, 4})), Input(Random({1, 2, 2, 3}))});
  EXPECT_EQ(error_, "a grid f64[1, 2, 2, 3] into f64[1, 1, 4, 4]");
}

TEST_F(SamplingOpsTest, MakesAGridOfATransformation) {
  for (const bool aligned : {false, true}) {
    const Array theta = Random({2, 2, 3}), size{{4}, {2, 1, 3, 1}};
    const auto y = Import("AffineGrid", 20, {Input(theta), Known(size, Scalar::kI64)},
                          {Attr("align_corners", aligned ? 1 : 0)});
    ExpectElements(y[0], {2, 3, 1, 2}, [&](const Ints& at) {
      const double v = (static_cast<double>(at[1]) - 1) * (aligned ? 1 : 2.0 / 3);
      return theta({at[0], at[3], 1}) * v + theta({at[0], at[3], 2});
    });
  }
}

// Groups of channels and of offsets, strides, dilations, pads, a mask and a bias.
TEST_F(SamplingOpsTest, ConvolvesAtOffsets) {
  const Array x = Random({1, 4, 5, 6}), weight = Random({4, 2, 2, 3}), bias = Random({4});
  const Array offset = Random({1, 2 * 6 * 2, 2, 5}, -2, 2), mask = Random({1, 2 * 6, 2, 5});
  const auto y =
      Import("DeformConv", 22, {Input(x), Input(weight), Input(offset), Input(bias), Input(mask)},
             {Attr("group", 2), Attr("offset_group", 2), Attr("strides", Ints{2, 1}),
              Attr("dilations", Ints{2, 1}), Attr("pads", Ints{1, 0, 0, 1})});
  const Sampling s{"linear", "zeros", true};
  ExpectElements(y[0], {1, 4, 2, 5}, [&](const Ints& at) {
    double sum = bias({at[1]});
    ForEach({2, 2, 3}, [&](const Ints& t) {
      const int64_t channel = at[1] / 2 * 2 + t[0], group = channel / 2;
      const int64_t tap = t[1] * 3 + t[2];
      std::vector<double> place;
      for (int64_t i = 0; i < 2; ++i) {
        const int64_t start = i ? at[3] + t[2] : 2 * at[2] - 1 + 2 * t[1];
        place.push_back(static_cast<double>(start) +
                        offset({0, (group * 6 + tap) * 2 + i, at[2], at[3]}));
      }
      sum += weight({at[1], t[0], t[1], t[2]}) * mask({0, group * 6 + tap, at[2], at[3]}) *
             Sampled(s, x, channel, {5, 6}, place);
    });
    return sum;
  });
  Import("DeformConv", 22, {Input(x), Input(weight), Input(Random({1, 24, 3, 5}))},
         {Attr("group", 2), Attr("offset_group", 2)});
  EXPECT_EQ(error_, "offsets of 3 windows over 5 elements");
}

}  // namespace
}  // namespace tg::onnx
