// Operators whose results have sizes that depend on data: as where the data is known at import.
#include <array>
#include <cmath>
#include <vector>

#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

class DataSizesTest : public OperatorTest {
 protected:
  // Numbers below `end`, as many of which are 0 as others.
  Array Few(Ints shape, int end, Scalar type = Scalar::kF64) {
    Array a{shape, {}, type};
    for (int64_t i = 0; i < Count(shape); ++i) {
      a.data.push_back(rng_() % 2 ? 0 : static_cast<double>(rng_() % static_cast<uint64_t>(end)));
    }
    return a;
  }

  // Imports the node with these inputs as inputs, and as constants, and compares the results.
  void Compare(std::string_view op, const std::vector<Array>& inputs,
               const std::vector<Attribute>& attributes, size_t outputs, size_t constants = 0) {
    std::vector<Value> given, known;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_constant = i + constants >= inputs.size();
      known.push_back(Known(inputs[i], inputs[i].type));
      given.push_back(is_constant ? known.back() : Input(inputs[i]));
    }
    const std::vector<Value> actual = Import(op, 18, given, attributes, outputs);
    ASSERT_EQ(error_, "");
    const std::vector<Value> wanted = Import(op, 18, known, attributes, outputs);
    ASSERT_EQ(error_, "");
    for (size_t i = 0; i < outputs; ++i) {
      EXPECT_TRUE(i > 0 || !tg::IsStatic(g_->ShapeOf(actual[i])));
      const Array expected = Evaluate(wanted[i]);
      ExpectElements(actual[i], expected.shape, [&](const Ints& at) { return expected(at); });
    }
  }
};

TEST_F(DataSizesTest, NonZero) {
  for (const Ints& shape : {Ints{7}, Ints{3, 5, 2}, Ints{200}, Ints{1, 64}, Ints{130, 2}}) {
    Compare("NonZero", {Few(shape, 3)}, {}, 1);
    Compare("NonZero", {Few(shape, 2, Scalar::kBool)}, {}, 1);
  }
  Compare("NonZero", {Array{{6}, Numbers(6, 0)}}, {}, 1);
  Compare("NonZero", {Array{{65}, Numbers(65, 1)}}, {}, 1);
}

TEST_F(DataSizesTest, NonZeroOfASymbolicAxis) {
  const Array x = Few({9, 3}, 2);
  const Array expected = Evaluate(Import("NonZero", 18, {Known(x)})[0]);
  ExpectElements(Import("NonZero", 18, {SymbolicInput(x, "n", 40)})[0], expected.shape,
                 [&](const Ints& at) { return expected(at); });
}

TEST_F(DataSizesTest, Compress) {
  const Array x = Random({4, 6});
  Compare("Compress", {x, Few({6}, 2, Scalar::kBool)}, {Attr("axis", 1)}, 1);
  Compare("Compress", {x, Few({3}, 2, Scalar::kBool)}, {Attr("axis", -2)}, 1);
  Compare("Compress", {x, Few({24}, 2, Scalar::kBool)}, {}, 1);
}

TEST_F(DataSizesTest, Unique) {
  for (const int sorted : {0, 1}) {
    for (const int64_t n : {1, 2, 20, 90}) {
      Compare("Unique", {Few({n}, 9)}, {Attr("sorted", sorted)}, 4);
      Compare("Unique", {Few({2, n}, 300, Scalar::kI64)}, {Attr("sorted", sorted)}, 4);
    }
    Array nans = Few({12}, 3);
    for (const size_t i : {2, 3, 7}) nans.data[i] = NAN;
    nans.data[5] = -0.0;
    std::vector<Value> actual = Import("Unique", 18, {Input(nans)}, {Attr("sorted", sorted)}, 4),
                       known = Import("Unique", 18, {Known(nans)}, {Attr("sorted", sorted)}, 4);
    for (size_t i = 1; i < 4; ++i) {
      const Array expected = Evaluate(known[i]);
      ExpectElements(actual[i], expected.shape, [&](const Ints& at) { return expected(at); });
    }
  }
  Import("Unique", 18, {Input(Few({2, 3}, 3))}, {Attr("axis", 0)});
  EXPECT_EQ(error_, "slices of an axis must be known before the run");
}

TEST_F(DataSizesTest, NonMaxSuppression) {
  const auto number = [](double v, Scalar type) { return Array{{1}, {v}, type}; };
  for (const int centered : {0, 1}) {
    for (const double most : {0, 1, 4, 100}) {
      Array boxes = Random({2, 15, 4}, 0, 3), scores = Random({2, 3, 15}, 0, 1);
      boxes.type = scores.type = Scalar::kF32;
      for (Array* a : {&boxes, &scores}) {
        for (double& v : a->data) v = std::floor(v * 8) / 8;  // with equal scores, and exact areas
      }
      const std::vector<Array> inputs{boxes, scores, number(most, Scalar::kI64),
                                      number(0.25, Scalar::kF32), number(0.3, Scalar::kF32)};
      const std::vector<Attribute> attributes{Attr("center_point_box", centered)};
      if (most > 0) Compare("NonMaxSuppression", inputs, attributes, 1, /*constants=*/3);
      Compare("NonMaxSuppression", inputs, attributes, 1);
    }
  }
}

TEST_F(DataSizesTest, Range) {
  const auto number = [](double v, Scalar type) { return Array{{}, {v}, type}; };
  for (const auto& [start, stop, step] : std::vector<std::array<double, 3>>{
           {0, 7, 1}, {0, 7, 3}, {2, -9, -4}, {3, 3, 1}, {5, 2, 1}}) {
    for (const Scalar type : {Scalar::kI64, Scalar::kF64}) {
      const std::vector<Array> inputs{number(start, type), number(stop, type), number(step, type)};
      Compare("Range", inputs, {}, 1);
      Compare("Range", {inputs[0], inputs[1], inputs[2]}, {}, 1, /*constants=*/1);
    }
  }
  Compare("Range",
          {number(0.5, Scalar::kF64), number(3.1, Scalar::kF64), number(0.3, Scalar::kF64)}, {}, 1);
  // A start of 0 and a positive step: the end is measured, so that other shapes can be made of it.
  const Value zero = Known(number(0, Scalar::kI64), Scalar::kI64),
              one = Known(number(1, Scalar::kI64), Scalar::kI64),
              stop = Input(number(7, Scalar::kI64));
  const Value range = Import("Range", 18, {zero, stop, one})[0];
  const Value wide = g_->Mul(stop, g_->ConstInt(Scalar::kI64, 2));
  const Value other = Import("ConstantOfShape", 18, {g_->Reshape(wide, {Dim(1)})})[0];
  EXPECT_EQ(g_->ShapeOf(other)[0], g_->MulDim(g_->Extent(range, 0), Dim(2)));
  EXPECT_EQ(Evaluate(other).shape, Ints{14});
}

TEST_F(DataSizesTest, SlicesAndShapesOfValues) {
  const Array x = Random({6, 4}), ends{{2}, {5, 3}, Scalar::kI64};
  const Value starts = Known({{2}, {1, 0}}, Scalar::kI64),
              axes = Known({{2}, {0, 1}}, Scalar::kI64);
  ExpectElements(Import("Slice", 18, {Input(x), starts, Input(ends), axes})[0], {4, 3},
                 [&](const Ints& at) {
                   return x({at[0] + 1, at[1]});
                 });
  const Value shape = Input(Array{{2}, {3, 4}, Scalar::kI64});
  const Array row = Random({1, 4});
  ExpectElements(Import("Expand", 18, {Input(row), shape})[0], {3, 4}, [&](const Ints& at) {
    return row({0, at[1]});
  });
}

}  // namespace
}  // namespace tg::onnx
