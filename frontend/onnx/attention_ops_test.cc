#include <cmath>
#include <functional>

#include "frontend/onnx/testing/run_node.h"

namespace tg::onnx {
namespace {

// Attention one query at a time: scores of the keys that `sees` admits, with `bias` added.
struct Reference {
  Array q, k, v;  // [batch, heads, length, size]
  double scale = 1;
  std::function<bool(int64_t b, int64_t i, int64_t j)> sees = [](int64_t, int64_t, int64_t) {
    return true;
  };
  std::function<double(int64_t b, int64_t i, int64_t j)> bias = [](int64_t, int64_t, int64_t) {
    return 0;
  };

  double operator()(int64_t b, int64_t h, int64_t i, int64_t e) const {
    const int64_t kv = h / (q.shape[1] / k.shape[1]);
    double sum = 0, weighted = 0;
    for (int64_t j = 0; j < k.shape[2]; ++j) {
      if (!sees(b, i, j)) continue;
      double score = 0;
      for (int64_t d = 0; d < q.shape[3]; ++d) score += q({b, h, i, d}) * k({b, kv, j, d});
      const double w = std::exp(score * scale + bias(b, i, j));
      sum += w;
      weighted += w * v({b, kv, j, e});
    }
    return sum == 0 ? 0 : weighted / sum;
  }
};

// [batch, length, heads * size] by heads.
Array ByHeads(const Array& x, int64_t heads) {
  const int64_t size = x.shape[2] / heads;
  Array y{{x.shape[0], heads, x.shape[1], size}, {}, x.type};
  for (int64_t b = 0; b < x.shape[0]; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t i = 0; i < x.shape[1]; ++i) {
        for (int64_t d = 0; d < size; ++d) y.data.push_back(x({b, i, h * size + d}));
      }
    }
  }
  return y;
}

// Rows of b behind those of a, along axis 2.
Array Join(const Array& a, const Array& b) {
  Array y{{a.shape[0], a.shape[1], a.shape[2] + b.shape[2], a.shape[3]}, {}, a.type};
  for (int64_t n = 0; n < a.shape[0]; ++n) {
    for (int64_t h = 0; h < a.shape[1]; ++h) {
      for (int64_t i = 0; i < y.shape[2]; ++i) {
        for (int64_t d = 0; d < a.shape[3]; ++d) {
          y.data.push_back(i < a.shape[2] ? a({n, h, i, d}) : b({n, h, i - a.shape[2], d}));
        }
      }
    }
  }
  return y;
}

class AttentionTest : public OperatorTest {
 protected:
  void ExpectReference(const Array& y, const Reference& ref, double tolerance = 1e-9) {
    ASSERT_EQ(error_, "");
    const bool packed = y.shape.size() == 3;
    const int64_t size = ref.v.shape[3];
    for (int64_t b = 0; b < ref.q.shape[0]; ++b) {
      for (int64_t h = 0; h < ref.q.shape[1]; ++h) {
        for (int64_t i = 0; i < ref.q.shape[2]; ++i) {
          for (int64_t e = 0; e < size; ++e) {
            EXPECT_NEAR(packed ? y({b, i, h * size + e}) : y({b, h, i, e}), ref(b, h, i, e),
                        tolerance)
                << b << " " << h << " " << i << " " << e;
          }
        }
      }
    }
  }
};

TEST_F(AttentionTest, GroupsOfHeadsWithAPast) {
  const Array q = Random({2, 3, 4 * 2}), k = Random({2, 3, 2 * 2}), v = Random({2, 3, 2 * 5}),
              past_k = Random({2, 2, 2, 2}), past_v = Random({2, 2, 2, 5});
  const auto y =
      RunNode("", "Attention", {q, k, v, {}, past_k, past_v},
              {Attr("is_causal", 1), Attr("q_num_heads", 4), Attr("kv_num_heads", 2)}, 3);
  Reference ref{ByHeads(q, 4), Join(past_k, ByHeads(k, 2)), Join(past_v, ByHeads(v, 2)),
                1 / std::sqrt(2.0)};
  ref.sees = [](int64_t, int64_t i, int64_t j) { return j <= i + 2; };
  ASSERT_FALSE(y.empty()) << error_;
  ExpectReference(y[0], ref);
  EXPECT_EQ(y[1].data, ref.k.data);
  EXPECT_EQ(y[2].data, ref.v.data);
}

TEST_F(AttentionTest, RowsWithoutAKeyAreZero) {
  const Array q = Random({2, 1, 3, 4}), k = Random({2, 1, 4, 4}), v = Random({2, 1, 4, 4});
  // A mask of fewer keys than there are hides the others.
  Array mask{{3, 3}, {1, 0, 1, 0, 0, 0, 0, 1, 1}, Scalar::kBool};
  const auto y = RunNode("", "Attention", {q, k, v, mask}, {Attr("scale", 0.5f)}, 1);
  Reference ref{q, k, v, 0.5};
  ref.sees = [&](int64_t, int64_t i, int64_t j) { return j < 3 && mask({i, j}) != 0; };
  ASSERT_FALSE(y.empty()) << error_;
  ExpectReference(y[0], ref);
  EXPECT_EQ(y[0]({1, 0, 1, 2}), 0);
}

TEST_F(AttentionTest, WindowsEndAtTheValidKeys) {
  const Array q = Random({2, 1, 2, 4}), k = Random({2, 1, 5, 4}), v = Random({2, 1, 5, 4});
  Array valid{{2}, {3, 5}, Scalar::kI64};
  const auto y = RunNode("", "Attention", {q, k, v, {}, {}, {}, valid},
                         {Attr("left_window_size", 1), Attr("right_window_size", 1)}, 1);
  Reference ref{q, k, v, 0.5};
  ref.sees = [&](int64_t b, int64_t i, int64_t j) {
    const auto n = static_cast<int64_t>(valid({b}));
    const int64_t position = n - 2 + i;
    return j < n && j >= position - 1 && j <= position + 1;
  };
  ASSERT_FALSE(y.empty()) << error_;
  ExpectReference(y[0], ref);
}

TEST_F(AttentionTest, MultiHeadAttentionFilters) {
  const Array q = Random({2, 3, 6}), k = Random({2, 4, 6}), v = Random({2, 4, 6}),
              bias = Random({18});
  const Array mask = Integers({2, 4}, {1, 1, 0, 1, 1, 0, 0, 1});
  const auto y = RunNode("com.microsoft", "MultiHeadAttention", {q, k, v, bias, mask},
                         {Attr("num_heads", 2), Attr("mask_filter_value", -3.0)}, 1, 1);
  Array biased[3] = {q, k, v};
  for (size_t p = 0; p < 3; ++p) {
    for (size_t i = 0; i < biased[p].data.size(); ++i)
      biased[p].data[i] += bias.data[6 * p + i % 6];
  }
  Reference ref{ByHeads(biased[0], 2), ByHeads(biased[1], 2), ByHeads(biased[2], 2),
                1 / std::sqrt(3.0)};
  ref.bias = [&](int64_t b, int64_t, int64_t j) { return mask({b, j}) != 0 ? 0 : -3; };
  ASSERT_FALSE(y.empty()) << error_;
  ExpectReference(y[0], ref);
}

// Sequences of different lengths in one buffer: new rows go behind each one's own.
TEST_F(AttentionTest, GroupQueryAttentionUpdatesItsCache) {
  const Array q = Random({2, 2, 8}), k = Random({2, 2, 4}), v = Random({2, 2, 4}),
              past_k = Random({2, 1, 6, 4}), past_v = Random({2, 1, 6, 4});
  const Array lengths = Integers({2}, {4, 2});  // less 1
  const int64_t past[] = {3, 1};
  const auto build = [&](const std::vector<Attribute>& more) {
    std::vector<Attribute> attributes{Attr("num_heads", 2), Attr("kv_num_heads", 1)};
    attributes.insert(attributes.end(), more.begin(), more.end());
    return RunNode("com.microsoft", "GroupQueryAttention",
                   {q, k, v, past_k, past_v, lengths, Integers({}, {5})}, attributes, 3, 1);
  };
  const auto y = build({});
  ASSERT_FALSE(y.empty()) << error_;
  ASSERT_EQ(y[1].shape, (Ints{2, 1, 6, 4}));
  Reference ref{ByHeads(q, 2), y[1], y[2], 0.5};
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t j = 0; j < past[b] + 2; ++j) {
      for (int64_t d = 0; d < 4; ++d) {
        EXPECT_EQ(y[1]({b, 0, j, d}), j < past[b] ? past_k({b, 0, j, d}) : k({b, j - past[b], d}));
        EXPECT_EQ(y[2]({b, 0, j, d}), j < past[b] ? past_v({b, 0, j, d}) : v({b, j - past[b], d}));
      }
    }
  }
  ref.sees = [&](int64_t b, int64_t i, int64_t j) { return j <= past[b] + i; };
  ExpectReference(y[0], ref);
  const auto windowed = build({Attr("local_window_size", 2)});
  ASSERT_FALSE(windowed.empty()) << error_;
  ref.sees = [&](int64_t b, int64_t i, int64_t j) {
    return j <= past[b] + i && j > past[b] + i - 2;
  };
  ExpectReference(windowed[0], ref);
}

TEST_F(AttentionTest, RotatesNeighboursOrHalves) {
  const Array x = Random({1, 2, 3, 6}), cosines = Random({8, 2}), sines = Random({8, 2});
  Array positions{{1, 3}, {5, 0, 7}, Scalar::kI64};
  for (const bool interleaved : {false, true}) {
    const auto y = RunNode("", "RotaryEmbedding", {x, cosines, sines, positions},
                           {Attr("interleaved", interleaved), Attr("rotary_embedding_dim", 4)}, 1);
    ASSERT_FALSE(y.empty()) << error_;
    for (int64_t h = 0; h < 2; ++h) {
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t p = 0; p < 2; ++p) {
          const int64_t a = interleaved ? 2 * p : p, b = interleaved ? 2 * p + 1 : p + 2;
          const int64_t row = static_cast<int64_t>(positions({0, i}));
          const double c = cosines({row, p}), s = sines({row, p});
          EXPECT_NEAR(y[0]({0, h, i, a}), c * x({0, h, i, a}) - s * x({0, h, i, b}), 1e-9);
          EXPECT_NEAR(y[0]({0, h, i, b}), s * x({0, h, i, a}) + c * x({0, h, i, b}), 1e-9);
        }
        EXPECT_EQ(y[0]({0, h, i, 5}), x({0, h, i, 5}));
      }
    }
  }
}

TEST_F(AttentionTest, LinearAttentionByTheDeltaRule) {
  const Array q = Random({1, 3, 4}), k = Random({1, 3, 2}), v = Random({1, 3, 3}),
              past = Random({1, 1, 2, 3}), decay = Random({1, 3, 2}, -1, 0),
              beta = Random({1, 3, 1});
  const auto y =
      RunNode("", "LinearAttention", {q, k, v, past, decay, beta},
              {Attr("q_num_heads", 2), Attr("kv_num_heads", 1), Attr("scale", 0.5f)}, 2, 27);
  ASSERT_FALSE(y.empty()) << error_;
  Array s = past;
  for (int64_t t = 0; t < 3; ++t) {
    for (int64_t d = 0; d < 2; ++d) {
      for (int64_t m = 0; m < 3; ++m)
        s.data[static_cast<size_t>(3 * d + m)] *= std::exp(decay({0, t, d}));
    }
    for (int64_t m = 0; m < 3; ++m) {
      double found = 0;
      for (int64_t d = 0; d < 2; ++d) found += s({0, 0, d, m}) * k({0, t, d});
      for (int64_t d = 0; d < 2; ++d) {
        s.data[static_cast<size_t>(3 * d + m)] +=
            k({0, t, d}) * beta({0, t, 0}) * (v({0, t, m}) - found);
      }
    }
    for (int64_t h = 0; h < 2; ++h) {
      for (int64_t m = 0; m < 3; ++m) {
        double sum = 0;
        for (int64_t d = 0; d < 2; ++d) sum += 0.5 * q({0, t, 2 * h + d}) * s({0, 0, d, m});
        EXPECT_NEAR(y[0]({0, t, 3 * h + m}), sum, 1e-5);
      }
    }
  }
  EXPECT_NEAR(y[1]({0, 0, 1, 2}), s({0, 0, 1, 2}), 1e-5);
}

TEST_F(AttentionTest, RefusesWhatDoesNotFit) {
  const Array q = Random({1, 3, 2, 4}), k = Random({1, 2, 2, 4}), x = Random({1, 2, 6});
  RunNode("", "Attention", {q, k, k}, {}, 1);
  EXPECT_EQ(error_, "heads of f64[1, 2, 2, 4] for queries f64[1, 3, 2, 4]");
  RunNode("", "Attention", {x, x, x}, {Attr("q_num_heads", 4), Attr("kv_num_heads", 2)}, 1);
  EXPECT_EQ(error_, "f64[1, 2, 6] in 4 heads");
  RunNode("", "LinearAttention", {x, x, x}, {Attr("q_num_heads", 1)}, 1, 27);
  EXPECT_EQ(error_, "the update rule 'gated_delta' wants other inputs");
}

}  // namespace
}  // namespace tg::onnx
