#include <cmath>
#include <limits>

#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class QuantizationTest : public OperatorTest {
 protected:
  Tensor Floats(const Ints& shape, std::initializer_list<double> v) {
    return Make(ElementType::kFloat, shape, v);
  }
  Numbers Only(const std::vector<Tensor>& results) { return Elements(results[0]); }
};

TEST_F(QuantizationTest, RoundsToEvenBeforeTheZeroPointAndSaturates) {
  // 2.5 and 3.5 round to 2 and 4, also where an odd zero point would make 5.5 of 2.5.
  const Tensor x = Floats({6}, {2.5, 3.5, -2.5, 500, -500, kNan});
  const Tensor scale = Floats({}, {1});
  const auto with_zero = [&](ElementType type, double zero) {
    return Only(Build("QuantizeLinear", 21, {x, scale, Make(type, {}, {zero})}));
  };
  EXPECT_EQ(with_zero(ElementType::kUint8, 3), (Numbers{5, 7, 1, 255, 0, 0}));
  EXPECT_EQ(with_zero(ElementType::kInt8, 3), (Numbers{5, 7, 1, 127, -128, 0}));
  EXPECT_EQ(with_zero(ElementType::kInt4, 1), (Numbers{3, 5, -1, 7, -8, 0}));
  EXPECT_EQ(with_zero(ElementType::kUint2, 0), (Numbers{2, 3, 0, 3, 0, 0}));
  EXPECT_EQ(with_zero(ElementType::kUint16, 32769),
            (Numbers{32771, 32773, 32767, 33269, 32269, 0}));
}

TEST_F(QuantizationTest, ScalesGoAlongTheAxisOrInBlocks) {
  const Tensor x = Floats({2, 3}, {2, 4, 6, 8, 10, 12});
  EXPECT_EQ(Only(Build("QuantizeLinear", 13, {x, Floats({3}, {1, 2, 3})})),
            (Numbers{2, 2, 2, 8, 5, 4}));
  Set("axis", int64_t{-2});
  EXPECT_EQ(Only(Build("QuantizeLinear", 13, {x, Floats({2}, {1, 2})})),
            (Numbers{2, 4, 6, 4, 5, 6}));
  // The last block is one element short.
  Set("block_size", int64_t{2});
  EXPECT_EQ(Only(Build("QuantizeLinear", 21, {x, Floats({2, 2}, {1, 2, 4, 6})})),
            (Numbers{2, 4, 3, 2, 2, 2}));
  Set("block_size", int64_t{2});
  Build("QuantizeLinear", 21, {x, Floats({2}, {1, 2})});
  EXPECT_NE(error_.find("of blocks of 2 elements of f32[2, 3]"), std::string::npos) << error_;
}

TEST_F(QuantizationTest, OutputTypesMustAgree) {
  Set("output_dtype", static_cast<int64_t>(ElementType::kInt8));
  const std::vector<Tensor> results =
      Build("QuantizeLinear", 21, {Floats({1}, {-9}), Floats({}, {2})});
  EXPECT_EQ(Only(results), (Numbers{-4}));
  EXPECT_EQ(results[0].type, ElementType::kInt8);
  Set("output_dtype", static_cast<int64_t>(ElementType::kInt8));
  Build("QuantizeLinear", 21,
        {Floats({1}, {-9}), Floats({}, {2}), Make(ElementType::kUint8, {}, {0})});
  EXPECT_EQ(error_, "output_dtype int8 and a zero point of uint8");
}

TEST_F(QuantizationTest, DequantizesByTheDifferenceOfCodes) {
  const Tensor x = Make(ElementType::kUint8, {3}, {0, 128, 255});
  const Tensor zero = Make(ElementType::kUint8, {}, {128});
  EXPECT_EQ(Only(Build("DequantizeLinear", 13, {x, Floats({}, {0.5}), zero})),
            (Numbers{-64, 0, 63.5}));
  // An i32 code has more digits than f32: the difference is taken before it is rounded.
  const Tensor wide = Make(ElementType::kInt32, {1}, {16777217});
  const Tensor near = Make(ElementType::kInt32, {}, {16777215});
  EXPECT_EQ(Only(Build("DequantizeLinear", 13, {wide, Floats({}, {1}), near})), (Numbers{2}));
}

TEST_F(QuantizationTest, DynamicScaleCoversZeroAndAllElements) {
  const std::vector<Tensor> results =
      Build("DynamicQuantizeLinear", 11, {Floats({4}, {-51, 0, 102, 204})}, 3);
  EXPECT_EQ(Elements(results[0]), (Numbers{0, 51, 153, 255}));
  EXPECT_EQ(Elements(results[1]), (Numbers{1}));
  EXPECT_EQ(Elements(results[2]), (Numbers{51}));
  // Zeros alone.
  const std::vector<Tensor> zeros = Build("DynamicQuantizeLinear", 11, {Floats({2}, {0, 0})}, 3);
  EXPECT_EQ(Elements(zeros[0]), (Numbers{0, 0}));
  EXPECT_EQ(Elements(zeros[2]), (Numbers{0}));
}

TEST_F(QuantizationTest, IntegerProductsTakeZeroPointsByRowAndColumn) {
  const Tensor a = Make(ElementType::kUint8, {2, 2}, {10, 20, 30, 40});
  const Tensor b = Make(ElementType::kInt8, {2, 2}, {1, 2, 3, 4});
  const Tensor by_row = Make(ElementType::kUint8, {2}, {10, 30});
  const Tensor by_column = Make(ElementType::kInt8, {2}, {1, 2});
  const std::vector<Tensor> y = Build("MatMulInteger", 10, {a, b, by_row, by_column});
  // [[0, 10], [0, 10]] times [[0, 0], [2, 2]].
  EXPECT_EQ(Only(y), (Numbers{20, 20, 20, 20}));
  EXPECT_EQ(y[0].type, ElementType::kInt32);
}

TEST_F(QuantizationTest, PaddingOfAConvolutionIsTheZeroPoint) {
  const Tensor x = Make(ElementType::kUint8, {1, 1, 2}, {130, 131});
  const Tensor w = Make(ElementType::kUint8, {1, 1, 3}, {1, 2, 3});
  Set("pads", Ints{1, 1});
  EXPECT_EQ(Only(Build("ConvInteger", 10, {x, w, Make(ElementType::kUint8, {}, {128})})),
            (Numbers{2 * 2 + 3 * 3, 1 * 2 + 2 * 3}));
}

TEST_F(QuantizationTest, UnpacksWeightsOfFourBits) {
  // One row of b: the codes 9, 7, 10, 8 in two bytes, the zero point 8.
  const Tensor a = Floats({1, 4}, {1, 10, 100, 1000});
  const Tensor b = Make(ElementType::kUint8, {1, 2, 1}, {0x79, 0x8a});
  for (const auto& [name, v] : {std::pair{"K", 4}, {"N", 1}, {"bits", 4}, {"block_size", 2}}) {
    Set(name, int64_t{v});
  }
  const Tensor scale = Floats({2}, {1, 0.5});
  EXPECT_EQ(Only(Build("MatMulNBits", 1, {a, b, scale}, 1, "com.microsoft")),
            (Numbers{1 - 10 + 100}));
  // The zero points 9 and 6 of the two blocks share a byte.
  for (const auto& [name, v] : {std::pair{"K", 4}, {"N", 1}, {"block_size", 2}}) {
    Set(name, int64_t{v});
  }
  const Tensor zeros = Make(ElementType::kUint8, {1}, {0x69});
  EXPECT_EQ(Only(Build("MatMulNBits", 1, {a, b, scale, zeros}, 1, "com.microsoft")),
            (Numbers{0 - 20 + 200 + 1000}));
}

TEST_F(QuantizationTest, PowersOfTwoRoundAsTold) {
  const Tensor x = Floats({8}, {1, 1.25, 1.5, 1.75, 0, 3e38, kInf, kNan});
  const auto cast = [&](const char* mode, bool saturates) {
    Set("to", static_cast<int64_t>(ElementType::kFloat8E8M0));
    Set("round_mode", mode);
    Set("saturate", int64_t{saturates});
    Numbers n = Only(Build("Cast", 24, {x}));
    for (double& v : n) v = std::isnan(v) ? -1 : v;
    return n;
  };
  const double most = std::ldexp(1.0, 127), least = std::ldexp(1.0, -127);
  EXPECT_EQ(cast("up", true), (Numbers{1, 2, 2, 2, least, most, most, -1}));
  EXPECT_EQ(cast("down", true), (Numbers{1, 1, 1, 1, least, most, most, -1}));
  EXPECT_EQ(cast("nearest", true), (Numbers{1, 1, 2, 2, least, most, most, -1}));
  EXPECT_EQ(cast("nearest", false), (Numbers{1, 1, 2, 2, -1, -1, -1, -1}));
  Set("to", static_cast<int64_t>(ElementType::kFloat8E8M0));
  Set("round_mode", "sideways");
  Build("Cast", 24, {x});
  EXPECT_EQ(error_, "round_mode 'sideways'");
}

}  // namespace
}  // namespace tg::onnx
