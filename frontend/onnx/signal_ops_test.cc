#include <cmath>
#include <complex>
#include <numbers>

#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

class SignalOpsTest : public OperatorTest {
 protected:
  static std::complex<double> Number(const Array& x, int64_t row, int64_t i) {
    if (i >= x.shape[1]) return 0;
    return {x({row, i, 0}), x.shape[2] == 2 ? x({row, i, 1}) : 0};
  }
  // The sum that defines a transform of n numbers.
  static std::complex<double> Transformed(const Array& x, int64_t row, int64_t k, int64_t n,
                                          int sign) {
    std::complex<double> sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += Number(x, row, i) *
             std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(i * k % n) /
                                 static_cast<double>(n));
    }
    return sum;
  }
  static double Part(std::complex<double> v, int64_t i) { return i ? v.imag() : v.real(); }
};

// Lengths that are one product, a prime beyond, and products of few and of many factors.
TEST_F(SignalOpsTest, TransformsAnyLength) {
  for (const int64_t n : {1, 2, 3, 8, 31, 37, 40, 74}) {
    for (const int64_t parts : {1, 2}) {
      const Array x = Random({2, n, parts});
      for (const bool inverse : {false, true}) {
        const auto y = Import("DFT", 20, {Input(x)}, {Attr("inverse", inverse ? 1 : 0)});
        ExpectElements(y[0], {2, n, 2}, [&](const Ints& at) {
          const double scale = inverse ? 1 / static_cast<double>(n) : 1;
          return scale * Part(Transformed(x, at[0], at[1], n, inverse ? 1 : -1), at[2]);
        });
      }
    }
  }
}

TEST_F(SignalOpsTest, PadsOrCutsToALength) {
  const Array x = Random({2, 6, 2});
  for (const int64_t n : {4, 9}) {
    const Array length{{}, {static_cast<double>(n)}};
    const auto y = Import("DFT", 17, {Input(x), Known(length, Scalar::kI64)}, {Attr("axis", 1)});
    ExpectElements(y[0], {2, n, 2}, [&](const Ints& at) {
      return Part(Transformed(x, at[0], at[1], n, -1), at[2]);
    });
  }
}

TEST_F(SignalOpsTest, TransformsRealNumbersThereAndBack) {
  for (const int64_t n : {1, 2, 7, 10, 66}) {
    const Array x = Random({2, n, 1}), length{{}, {static_cast<double>(n)}};
    const auto half = Import("DFT", 20, {Input(x)}, {Attr("onesided", 1)});
    ExpectElements(half[0], {2, n / 2 + 1, 2}, [&](const Ints& at) {
      return Part(Transformed(x, at[0], at[1], n, -1), at[2]);
    });
    const auto back = Import("DFT", 20, {half[0], Known(length, Scalar::kI64)},
                             {Attr("onesided", 1), Attr("inverse", 1)});
    ExpectElements(back[0], {2, n, 1}, [&](const Ints& at) { return x(at); });
  }
}

TEST_F(SignalOpsTest, RefusesTheAxisOfTheParts) {
  Import("DFT", 17, {Input(Random({2, 4, 2}))}, {Attr("axis", 2)});
  EXPECT_EQ(error_, "a transform along the axis of the parts");
}

TEST_F(SignalOpsTest, TransformsFrames) {
  const Array x = Random({1, 14, 1}), step{{}, {3}}, window = Random({6});
  const auto y = Import("STFT", 17, {Input(x), Known(step, Scalar::kI64), Input(window)});
  ExpectElements(y[0], {1, 3, 4, 2}, [&](const Ints& at) {
    Array frame{{1, 6, 1}, {}};
    for (int64_t i = 0; i < 6; ++i) {
      frame.data.push_back(x({0, at[1] * 3 + i, 0}) * window({i}));
    }
    return Part(Transformed(frame, 0, at[2], 6, -1), at[3]);
  });
}

TEST_F(SignalOpsTest, MakesWindows) {
  const Array size{{}, {5}};
  for (const bool periodic : {false, true}) {
    const auto y =
        Import("HannWindow", 17, {Known(size, Scalar::kI64)}, {Attr("periodic", periodic ? 1 : 0)});
    ExpectElements(
        y[0], {5},
        [&](const Ints& at) {
          const double s =
              std::sin(std::numbers::pi * static_cast<double>(at[0]) / (periodic ? 5 : 4));
          return s * s;
        },
        1e-6);
  }
}

}  // namespace
}  // namespace tg::onnx
