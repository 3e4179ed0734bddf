#include "frontend/common/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "frontend/common/graph_builder_testing.h"
#include "gtest/gtest.h"

namespace tg::frontend {
namespace {

int64_t Pick(std::mt19937_64& rng, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(rng);
}

// Windows over two axes of these extents, and the number of windows along each.
struct WindowsCase {
  GraphBuilder::Window window;
  Ints extents, counts;
};
WindowsCase RandomWindows(std::mt19937_64& rng) {
  WindowsCase c;
  GraphBuilder::Window& w = c.window;
  for (int i = 0; i < 2; ++i) {
    w.kernel.push_back(Pick(rng, 1, 3));
    w.strides.push_back(Pick(rng, 1, 4));
    w.dilations.push_back(Pick(rng, 1, 2));
    w.pads_begin.push_back(Pick(rng, 0, 2));
    w.pads_end.push_back(Pick(rng, 0, 2));
    c.extents.push_back(Pick(rng, 5, 8));
    const int64_t reach = w.dilations.back() * (w.kernel.back() - 1) + 1;
    const int64_t free =
        c.extents.back() + w.pads_begin.back().value() + w.pads_end.back().value() - reach;
    c.counts.push_back(free / w.strides.back() + 1);
  }
  return c;
}

TEST_F(GraphBuilderTest, Broadcasts) {
  const Array a = Random({2, 1, 3}), b = Random({4, 1});
  ExpectElements(g_->Add(Input(a), Input(b)), {2, 4, 3}, [&](const Ints& at) {
    return a({at[0], 0, at[2]}) + b({at[1], 0});
  });
}

TEST_F(GraphBuilderTest, RefusesShapesThatDoNotBroadcast) {
  EXPECT_EQ(g_->Add(Input(Random({2, 3})), Input(Random({4}))), nullptr);
  EXPECT_EQ(g_->error(), "shapes that do not broadcast: [2, 3] [4]");
}

TEST_F(GraphBuilderTest, MultipliesMatrices) {
  const Array a = Random({2, 1, 3, 5}), b = Random({4, 5, 2});
  ExpectElements(g_->MatMul(Input(a), Input(b)), {2, 4, 3, 2}, [&](const Ints& at) {
    double sum = 0;
    for (int64_t k = 0; k < 5; ++k) sum += a({at[0], 0, at[2], k}) * b({at[1], k, at[3]});
    return sum;
  });
}

TEST_F(GraphBuilderTest, EinsumTakesDiagonalsAndEllipses) {
  const Array a = Random({2, 3, 3}), b = Random({2, 4});
  ExpectElements(g_->Einsum("...ii,...j->j...", std::vector{Input(a), Input(b)}), {4, 2},
                 [&](const Ints& at) {
                   double sum = 0;
                   for (int64_t i = 0; i < 3; ++i) {
                     sum += a({at[1], i, i}) * b({at[1], at[0]});
                   }
                   return sum;
                 });
}

// Convolutions with random windows against the sum that defines them.
TEST_F(GraphBuilderTest, Convolves) {
  for (int round = 0; round < 20; ++round) {
    const int64_t groups = Pick(rng_, 1, 2);
    const WindowsCase c = RandomWindows(rng_);
    const GraphBuilder::Window& w = c.window;
    const Ints &in = c.extents, &out = c.counts;
    const Array x = Random({2, 2 * groups, in[0], in[1]});
    const Array k = Random({3 * groups, 2, w.kernel[0], w.kernel[1]});
    const Array bias = Random({3 * groups});
    ExpectElements(g_->Conv(Input(x), Input(k), Input(bias), w, groups),
                   {2, 3 * groups, out[0], out[1]}, [&](const Ints& at) {
                     double sum = bias({at[1]});
                     ForEach({2, w.kernel[0], w.kernel[1]}, [&](const Ints& t) {
                       const int64_t i =
                           at[2] * w.strides[0] + t[1] * w.dilations[0] - w.pads_begin[0].value();
                       const int64_t j =
                           at[3] * w.strides[1] + t[2] * w.dilations[1] - w.pads_begin[1].value();
                       if (i < 0 || i >= in[0] || j < 0 || j >= in[1]) return;
                       sum += x({at[0], at[1] / 3 * 2 + t[0], i, j}) * k({at[1], t[0], t[1], t[2]});
                     });
                     return sum;
                   });
  }
}

TEST_F(GraphBuilderTest, SpreadsByATransposedConvolution) {
  const Array x = Random({1, 2, 4}), k = Random({2, 3, 3});
  GraphBuilder::Window w{{3}, {2}, {1}, {1}, {0}};
  // out = (4 - 1) * 2 + 3 - 1 + output padding 1.
  ExpectElements(g_->ConvTranspose(Input(x), Input(k), nullptr, w, {1}, 1), {1, 3, 9},
                 [&](const Ints& at) {
                   double sum = 0;
                   ForEach({2, 4, 3}, [&](const Ints& t) {
                     if (t[1] * 2 + t[2] - 1 == at[2]) {
                       sum += x({0, t[0], t[1]}) * k({t[0], at[1], t[2]});
                     }
                   });
                   return sum;
                 });
}

// Any stride, dilation, padding and number of groups, along two axes.
TEST_F(GraphBuilderTest, ConvolvesTransposed) {
  for (int round = 0; round < 60; ++round) {
    const int64_t groups = Pick(rng_, 1, 2);
    const WindowsCase c = RandomWindows(rng_);
    const GraphBuilder::Window& w = c.window;
    const Ints& extents = c.extents;
    Ints output_padding, out{2, 3 * groups};
    for (size_t i = 0; i < 2; ++i) {
      output_padding.push_back(Pick(rng_, 0, w.strides[i] - 1));
      const int64_t reach = w.dilations[i] * (w.kernel[i] - 1) + 1;
      out.push_back((extents[i] - 1) * w.strides[i] - w.pads_begin[i].value() -
                    w.pads_end[i].value() + reach + output_padding[i]);
    }
    if (out[2] <= 0 || out[3] <= 0) continue;
    const Array x = Random({2, 2 * groups, extents[0], extents[1]});
    const Array k = Random({2 * groups, 3, w.kernel[0], w.kernel[1]});
    const Array bias = Random({3 * groups});
    ExpectElements(
        g_->ConvTranspose(Input(x), Input(k), Input(bias), w, output_padding, groups), out,
        [&](const Ints& at) {
          double sum = bias({at[1]});
          ForEach({2, extents[0], extents[1], w.kernel[0], w.kernel[1]}, [&](const Ints& t) {
            for (int i = 0; i < 2; ++i) {
              const int64_t to = t[1 + i] * w.strides[i] + t[3 + i] * w.dilations[i];
              if (to - w.pads_begin[i].value() != at[2 + i]) return;
            }
            const int64_t channel = at[1] / 3 * 2 + t[0];
            sum += x({at[0], channel, t[1], t[2]}) * k({channel, at[1] % 3, t[3], t[4]});
          });
          return sum;
        });
  }
}

// A factor and a summand a filter, in the weight and the bias.
TEST_F(GraphBuilderTest, ScalesTheWeightOfAConvolution) {
  for (int round = 0; round < 20; ++round) {
    const int64_t groups = Pick(rng_, 1, 2);
    const WindowsCase c = RandomWindows(rng_);
    const GraphBuilder::Window& w = c.window;
    const bool transposed = round % 4 == 3;
    const Array x = Random({2, 2 * groups, c.extents[0], c.extents[1]});
    const Array scale = Random({3 * groups}), shift = Random({1, 3 * groups, 1, 1});
    const Value bias = round % 2 ? Known(Random({3 * groups})) : nullptr;
    const Value in = Input(x), factor = Known(scale), summand = Known(shift);
    const Value weight = Known(transposed ? Random({2 * groups, 3, w.kernel[0], w.kernel[1]})
                                          : Random({3 * groups, 2, w.kernel[0], w.kernel[1]}));
    const Value conv = transposed ? g_->ConvTranspose(in, weight, bias, w, {0, 0}, groups)
                                  : g_->Conv(in, weight, bias, w, groups);
    if (!g_->ok()) {  // a transposed one whose padding leaves nothing
      g_->ClearError();
      continue;
    }
    const Value scaled = g_->ScaleConv(conv, factor, summand);
    ASSERT_NE(scaled, nullptr);
    const std::vector<Array> results = Evaluate({conv, scaled});
    ASSERT_EQ(results[0].shape, results[1].shape);
    ForEach(results[0].shape, [&](const Ints& at) {
      const double expected = results[0](at) * scale({at[1]}) + shift({0, at[1], 0, 0});
      EXPECT_NEAR(results[1](at), expected, 1e-12) << testing::PrintToString(at);
    });
  }
}

TEST_F(GraphBuilderTest, ScalesNoWeightThatDependsOnAnInput) {
  const GraphBuilder::Window w{{1}, {1}, {1}, {0}, {0}};
  const Value x = Input(Random({1, 2, 4})), weight = Known(Random({3, 2, 1}));
  const Value known = Known(Random({3})), input = Input(Random({3}));
  const Value conv = g_->Conv(x, weight, nullptr, w, 1);
  EXPECT_NE(g_->ScaleConv(conv, known, known), nullptr);
  EXPECT_EQ(g_->ScaleConv(conv, input, known), nullptr);
  EXPECT_EQ(g_->ScaleConv(conv, known, g_->Exp(input)), nullptr);
  EXPECT_EQ(g_->ScaleConv(g_->Conv(x, weight, input, w, 1), known, known), nullptr);
  EXPECT_EQ(g_->ScaleConv(g_->Conv(x, Input(Random({3, 2, 1})), nullptr, w, 1), known, known),
            nullptr);
  // Not a convolution, and as many factors as there are filters.
  EXPECT_EQ(g_->ScaleConv(g_->Neg(conv), known, known), nullptr);
  EXPECT_EQ(g_->ScaleConv(conv, Known(Random({4})), known), nullptr);
  // Halves would round the scaled weights.
  const Value half = g_->Cast(known, Scalar::kF16);
  EXPECT_EQ(g_->ScaleConv(
                g_->Conv(g_->Cast(x, Scalar::kF16), g_->Cast(weight, Scalar::kF16), nullptr, w, 1),
                half, half),
            nullptr);
  EXPECT_TRUE(g_->ok()) << g_->error();
}

// Windows of windows' numbers, each summed at its places.
TEST_F(GraphBuilderTest, FoldsWindowsToTheirPlaces) {
  for (int round = 0; round < 20; ++round) {
    const WindowsCase c = RandomWindows(rng_);
    const GraphBuilder::Window& w = c.window;
    const Ints& image = c.extents;
    const Ints shape = {2, c.counts[0], c.counts[1], w.kernel[0], w.kernel[1]};
    const Array x = Random(shape);
    ExpectElements(g_->FoldWindows(Input(x), w, {Dim(image[0]), Dim(image[1])}),
                   {2, image[0], image[1]}, [&](const Ints& at) {
                     double sum = 0;
                     ForEach({shape[1], shape[2], shape[3], shape[4]}, [&](const Ints& t) {
                       for (size_t i = 0; i < 2; ++i) {
                         const int64_t place = t[i] * w.strides[i] + t[2 + i] * w.dilations[i] -
                                               w.pads_begin[i].value();
                         if (place != at[1 + i]) return;
                       }
                       sum += x({at[0], t[0], t[1], t[2], t[3]});
                     });
                     return sum;
                   });
  }
}

TEST_F(GraphBuilderTest, FlipsAxesThatCountFromTheEnd) {
  const Array x = Random({2, 3, 4});
  ExpectElements(g_->Flip(Input(x), {-1, 0}), {2, 3, 4}, [&](const Ints& at) {
    return x({1 - at[0], at[1], 3 - at[2]});
  });
  EXPECT_EQ(g_->Flip(Input(x), {3}), nullptr);
}

TEST_F(GraphBuilderTest, PadsByReflectionEdgeAndWrap) {
  const Array x = Random({3});
  const auto reflected = [](int64_t i) {
    i = ((i % 4) + 4) % 4;
    return i < 3 ? i : 4 - i;
  };
  const auto padded = [&](PadMode mode) { return g_->Pad(Input(x), {{5, 4}}, nullptr, mode); };
  ExpectElements(padded(PadMode::kReflect), {12},
                 [&](const Ints& at) { return x({reflected(at[0] - 5)}); });
  ExpectElements(padded(PadMode::kEdge), {12},
                 [&](const Ints& at) { return x({std::clamp<int64_t>(at[0] - 5, 0, 2)}); });
  ExpectElements(padded(PadMode::kWrap), {12},
                 [&](const Ints& at) { return x({(at[0] + 1) % 3}); });
}

TEST_F(GraphBuilderTest, PadsSymbolicAxesByCopies) {
  const Array x = Random({5});
  const Value v = SymbolicInput(x, "n", 9);
  ExpectElements(g_->Pad(v, {{3, 2}}, nullptr, PadMode::kReflect), {10}, [&](const Ints& at) {
    const int64_t i = at[0] - 3;
    return x({i < 0 ? -i : i > 4 ? 8 - i : i});
  });
  ExpectElements(g_->Pad(v, {{3, 2}}, nullptr, PadMode::kEdge), {10},
                 [&](const Ints& at) { return x({std::clamp<int64_t>(at[0] - 3, 0, 4)}); });
  ExpectElements(g_->Pad(v, {{3, 2}}, nullptr, PadMode::kWrap), {10},
                 [&](const Ints& at) { return x({(at[0] + 2) % 5}); });
  EXPECT_EQ(g_->Pad(v, {{0, g_->Extent(v, 0)}}, nullptr, PadMode::kWrap), nullptr);
  EXPECT_EQ(g_->error(), "symbolic pads other than constant ones");
}

TEST_F(GraphBuilderTest, ExtentsStayShort) {
  const Array x = Random({5});
  const Value v = SymbolicInput(x, "n", 9);
  const Dim n = g_->Extent(v, 0);
  EXPECT_EQ(g_->SubDim(g_->AddDim(g_->AddDim(n, 1), 2), 3), n);
  EXPECT_EQ(g_->AddDim(n, g_->SubDim(9, n)), Dim(9));
  EXPECT_EQ(g_->Greatest(g_->FloorDivDim(g_->AddDim(n, n), 4)), 4);
  EXPECT_EQ(g_->VariablesOf(g_->Pad(v, {{0, 2}})), (std::set<std::string>{"n"}));
}

TEST_F(GraphBuilderTest, SlicesWithSteps) {
  for (int64_t n = 1; n < 8; ++n) {
    for (int64_t step = 1; step < 4; ++step) {
      const Array x = Random({n});
      for (int64_t start = 0; start < n; ++start) {
        ExpectElements(g_->Slice(Input(x), 0, start, n, step), {(n - start + step - 1) / step},
                       [&](const Ints& at) { return x({start + at[0] * step}); });
      }
    }
  }
}

TEST_F(GraphBuilderTest, GathersAndScatters) {
  const Array x = Random({3, 4}), rows{{2, 2}, {2, -3, 0, 1}};
  ExpectElements(g_->Gather(Input(x), Input(rows, Scalar::kI64), 0), {2, 2, 4},
                 [&](const Ints& at) {
                   const auto i = static_cast<int64_t>(rows({at[0], at[1]}));
                   return x({i < 0 ? i + 3 : i, at[2]});
                 });
  const Array places{{2, 4}, {0, 1, 2, 0, 2, 0, 1, 1}}, updates = Random({2, 4});
  ExpectElements(
      g_->ScatterElements(Input(x), Input(places, Scalar::kI64), Input(updates), 0, Op::kAdd),
      {3, 4}, [&](const Ints& at) {
        double sum = x(at);
        for (int64_t i = 0; i < 2; ++i) {
          if (places({i, at[1]}) == static_cast<double>(at[0])) sum += updates({i, at[1]});
        }
        return sum;
      });
  // Of several updates of an element the last one replaces it.
  const Array again{{4, 4}, {0, 1, 2, 0, 2, 1, 2, 0, 0, 1, 1, 1, 0, 2, 2, 1}},
      each = Random({4, 4});
  ExpectElements(
      g_->ScatterElements(Input(x), Input(again, Scalar::kI64), Input(each), 0, Op::kNoop), {3, 4},
      [&](const Ints& at) {
        double last = x(at);
        for (int64_t i = 0; i < 4; ++i) {
          if (again({i, at[1]}) == static_cast<double>(at[0])) last = each({i, at[1]});
        }
        return last;
      });
  // Indices that are repeated along the other axis, whole or in part.
  const Array few{{2, 1}, {2, -3}};
  for (const int64_t columns : {4, 3}) {
    const Value repeated = g_->BroadcastTo(Input(few, Scalar::kI64), {2, columns});
    const Array added = Random({2, columns});
    ExpectElements(g_->ScatterElements(Input(x), repeated, Input(added), 0, Op::kMax), {3, 4},
                   [&](const Ints& at) {
                     if (at[0] == 1 || at[1] >= columns) return x(at);
                     return std::max(x(at), added({at[0] == 0 ? int64_t{1} : int64_t{0}, at[1]}));
                   });
    ExpectElements(g_->GatherElements(Input(x), repeated, 0), {2, columns}, [&](const Ints& at) {
      return x({at[0] == 0 ? int64_t{2} : int64_t{0}, at[1]});
    });
  }
  const Array row{{4, 1}, {2, 0, 2, 2}};
  ExpectElements(g_->ScatterNd(Input(x), Input(row, Scalar::kI64), Input(each), Op::kNoop), {3, 4},
                 [&](const Ints& at) {
                   return at[0] == 1 ? x(at) : each({at[0] == 0 ? int64_t{1} : int64_t{3}, at[1]});
                 });
}

TEST_F(GraphBuilderTest, RefusesTensorsOfTooManyElements) {
  const int64_t half = int64_t{1} << 24;  // the square is the limit
  const Value x = Input(Random({2}));
  EXPECT_NE(g_->Full({half, half}, g_->Like(x, 1)), nullptr);
  EXPECT_NE(g_->Tile(x, {half}), nullptr);
  EXPECT_TRUE(g_->ok()) << g_->error();
  const auto refuses = [&](Value v, const std::string& error) {
    EXPECT_EQ(v, nullptr);
    EXPECT_EQ(g_->error(), error);
    g_->ClearError();
  };
  refuses(g_->Full({half, half, 2}, g_->Like(x, 1)),
          "a tensor of too many elements: [16777216, 16777216, 2]");
  refuses(g_->Full({-1}, g_->Like(x, 1)), "a negative extent: [-1]");
  refuses(g_->Tile(x, {INT64_MAX}), "an extent beyond the greatest number of elements");
  refuses(g_->Pad(x, {{0, INT64_MIN}}), "a bound beyond the greatest number of elements");
  refuses(g_->Pad(x, {{0, 10000}}, nullptr, PadMode::kWrap),
          "an axis of 2 elements repeated more than 4096 times by a pad");
  EXPECT_NE(g_->Pad(x, {{0, 10000}}, nullptr, PadMode::kEdge), nullptr);
  EXPECT_EQ(g_->Extent(x, 1), Dim(1));
  EXPECT_EQ(g_->error(), "there is no axis 1 of f64[2]");
}

// Long axes are cut into blocks.
TEST_F(GraphBuilderTest, Accumulates) {
  for (const int64_t n : {5, 64, 65, 100, 2100}) {
    const Array x = Random({2, n, 2});
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        const Array sums = Evaluate(g_->CumulativeSum(Input(x), 1, exclusive, reverse));
        ASSERT_EQ(sums.shape, x.shape);
        for (const int64_t k : {0, 1}) {
          double sum = 0;
          for (int64_t i = 0; i < n; ++i) {
            const int64_t at = reverse ? n - 1 - i : i;
            const double before = sum;
            sum += x({1, at, k});
            EXPECT_NEAR(sums({1, at, k}), exclusive ? before : sum, 1e-9) << n << ", " << at;
          }
        }
      }
    }
    const Array most = Evaluate(g_->Cumulative(Op::kMax, Input(x), 1, false, false));
    double greatest = x({0, 0, 1});
    for (int64_t i = 0; i < n; ++i) {
      greatest = std::max(greatest, x({0, i, 1}));
      EXPECT_EQ(most({0, i, 1}), greatest);
    }
  }
}

// The first few elements, one after the other or by rank, are those of the whole order.
TEST_F(GraphBuilderTest, SortsTheFirst) {
  Array x = Random({2, 40, 3});
  for (double& v : x.data) v = std::round(4 * v);  // many are equal
  x.data[0] = x.data[3] = -std::numeric_limits<double>::infinity();
  x.data[6] = std::numeric_limits<double>::infinity();
  for (const bool descending : {false, true}) {
    const auto [all, all_numbers] = g_->Sort(Input(x), 1, descending);
    for (const int64_t count : {1, 3, 8, 9, 40}) {
      const auto [first, numbers] = g_->Sort(Input(x), 1, descending, count);
      const std::vector<Array> results = Evaluate({all, all_numbers, first, numbers});
      ASSERT_EQ(results[2].shape, (Ints{2, count, 3}));
      ForEach(results[2].shape, [&](const Ints& at) {
        EXPECT_EQ(results[2](at), results[0](at));
        EXPECT_EQ(results[3](at), results[1](at));
      });
    }
  }
}

TEST_F(GraphBuilderTest, SortsStably) {
  const Array x{{6}, {3, 1, 3, 2, 1, 0}};
  const auto [sorted, numbers] = g_->Sort(Input(x), 0, true);
  const std::vector<double> values{3, 3, 2, 1, 1, 0}, from{0, 2, 3, 1, 4, 5};
  ExpectElements(sorted, {6}, [&](const Ints& at) { return values[static_cast<size_t>(at[0])]; });
  ExpectElements(numbers, {6}, [&](const Ints& at) { return from[static_cast<size_t>(at[0])]; });
}

TEST_F(GraphBuilderTest, FunctionsAgreeWithTheLibrary) {
  struct Case {
    Value (GraphBuilder::*f)(Value);
    double (*reference)(double);
    double low, high;
  };
  const Case cases[] = {
      {&GraphBuilder::Exp, std::exp, -5, 5},     {&GraphBuilder::Log, std::log, 0.01, 9},
      {&GraphBuilder::Sin, std::sin, -4, 4},     {&GraphBuilder::Cos, std::cos, -4, 4},
      {&GraphBuilder::Tan, std::tan, -1.4, 1.4}, {&GraphBuilder::Asin, std::asin, -1, 1},
      {&GraphBuilder::Acos, std::acos, -1, 1},   {&GraphBuilder::Atan, std::atan, -30, 30},
      {&GraphBuilder::Sinh, std::sinh, -5, 5},   {&GraphBuilder::Cosh, std::cosh, -5, 5},
      {&GraphBuilder::Tanh, std::tanh, -9, 9},   {&GraphBuilder::Asinh, std::asinh, -9, 9},
      {&GraphBuilder::Acosh, std::acosh, 1, 9},  {&GraphBuilder::Atanh, std::atanh, -0.99, 0.99},
      {&GraphBuilder::Erf, std::erf, -5, 5},     {&GraphBuilder::Log1p, std::log1p, -0.9, 9},
      {&GraphBuilder::Expm1, std::expm1, -5, 5}, {&GraphBuilder::Floor, std::floor, -5, 5},
      {&GraphBuilder::Ceil, std::ceil, -5, 5},   {&GraphBuilder::Round, std::nearbyint, -5, 5},
      {&GraphBuilder::Abs, std::fabs, -5, 5},
  };
  for (const Case& c : cases) {
    Array x = Random({200}, c.low, c.high);
    // Halves decide how Round breaks ties.
    for (size_t i = 0; i < 20; ++i) {
      const double half = -5 + static_cast<double>(i) / 2;
      if (half >= c.low && half <= c.high) x.data[i] = half;
    }
    for (double& v : x.data) v = static_cast<float>(v);
    const Array actual = Evaluate((g_.get()->*c.f)(Input(x, Scalar::kF32)));
    for (size_t i = 0; i < x.data.size(); ++i) {
      const double expected = c.reference(x.data[i]);
      EXPECT_NEAR(actual.data[i], expected, 2e-6 * std::max(1.0, std::abs(expected)))
          << "function " << &c - cases << " of " << x.data[i];
    }
  }
}

TEST_F(GraphBuilderTest, KnowsShapesBeforeARun) {
  module_.vars.push_back({.name = "n", .min = 1, .max = 8});
  BufferDecl decl;
  decl.dtype = Scalar::kF32;
  decl.role = Role::kInput;
  decl.shape = {{.var = "n"}, {.size = 6}};
  const Value x = g_->Declare("x", decl);
  // [2 * n, 3]: what an exporter's reshape computes from a shape.
  const Value shape = g_->DimVector(Scalar::kI64, g_->ShapeOf(x));
  const Value two = g_->Constant1D(Scalar::kI64, {2, 1});
  const Value half = g_->Constant1D(Scalar::kI64, {1, 2});
  const auto dims = g_->KnownDims(g_->Div(g_->Mul(shape, two), half));
  ASSERT_TRUE(dims.has_value());
  ASSERT_EQ(dims->size(), 2u);
  EXPECT_TRUE((*dims)[0].is_symbolic());
  EXPECT_TRUE((*dims)[1].Is(3));
  // What an input decides is not known, unless the input is given.
  BufferDecl other = decl;
  other.dtype = Scalar::kI64;
  other.shape = {{.size = 2}};
  const Value y = g_->Declare("y", other);
  EXPECT_FALSE(g_->KnownInts(y).has_value());
  g_->GiveInput("y", {4, 5});
  EXPECT_FALSE(g_->KnownInts(y).has_value());
}

}  // namespace
}  // namespace tg::frontend
