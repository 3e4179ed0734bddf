#include <algorithm>
#include <cmath>
#include <functional>

#include "frontend/onnx/testing/run_node.h"

namespace tg::onnx {
namespace {

using Function = std::function<double(double)>;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The equations of the standard, one sequence and one element at a time.
struct Reference {
  std::string kind;
  std::vector<Function> functions;  // of each direction
  int64_t gates, hidden;
  double clip = 1e30;
  bool linear_before_reset = false, input_forget = false;
  Array w, r, b;
  std::optional<Array> peepholes;

  // Hidden states [length][hidden] of sequence `n`, of which `steps` are run.
  std::vector<std::vector<double>> Run(const Array& x, int64_t d, bool backwards, int64_t n,
                                       int64_t steps, std::vector<double>& h,
                                       std::vector<double>& c) const {
    std::vector<std::vector<double>> out(static_cast<size_t>(x.shape[0]),
                                         std::vector<double>(static_cast<size_t>(hidden), 0));
    const auto f = [&](size_t i, double v) {
      const bool is_gate = !(kind == "LSTM" && i == 2);
      return functions[static_cast<size_t>(d) * functions.size() / 2 + i](
          is_gate ? std::clamp(v, -clip, clip) : v);
    };
    for (int64_t k = 0; k < steps; ++k) {
      const int64_t t = backwards ? steps - 1 - k : k;
      const auto of_input = [&](int64_t row) {
        double sum = b({d, row});
        for (int64_t i = 0; i < x.shape[2]; ++i) sum += x({t, n, i}) * w({d, row, i});
        return sum;
      };
      const auto of_state = [&](int64_t row, const std::vector<double>& state) {
        double sum = b({d, gates * hidden + row});
        for (int64_t i = 0; i < hidden; ++i) sum += state[static_cast<size_t>(i)] * r({d, row, i});
        return sum;
      };
      std::vector<double> next_h = h, next_c = c, reset = h;
      for (int64_t j = 0; j < hidden; ++j) {
        const auto u = static_cast<size_t>(j);
        const auto sum = [&](int64_t gate) {
          return of_input(gate * hidden + j) + of_state(gate * hidden + j, h);
        };
        const auto peephole = [&](int64_t gate) {
          return peepholes ? (*peepholes)({d, gate * hidden + j}) : 0;
        };
        if (kind == "LSTM") {
          const double i = f(0, sum(0) + peephole(0) * c[u]);
          const double g = input_forget ? 1 - i : f(0, sum(2) + peephole(2) * c[u]);
          next_c[u] = g * c[u] + i * f(1, sum(3));
          next_h[u] = f(0, sum(1) + peephole(1) * next_c[u]) * f(2, next_c[u]);
        } else if (kind == "GRU") {
          reset[u] = f(0, sum(1));
        } else {
          next_h[u] = f(0, sum(0));
        }
      }
      if (kind == "GRU") {
        std::vector<double> scaled(h);
        for (size_t u = 0; u < h.size(); ++u) scaled[u] *= reset[u];
        for (int64_t j = 0; j < hidden; ++j) {
          const auto u = static_cast<size_t>(j);
          const double z = f(0, of_input(j) + of_state(j, h));
          const int64_t row = 2 * hidden + j;
          const double recurrent =
              linear_before_reset ? reset[u] * of_state(row, h) : of_state(row, scaled);
          next_h[u] = (1 - z) * f(1, of_input(row) + recurrent) + z * h[u];
        }
      }
      h = next_h;
      c = next_c;
      out[static_cast<size_t>(t)] = h;
    }
    return out;
  }
};

class RecurrentTest : public OperatorTest {
 protected:
  static constexpr int64_t kBatch = 3, kSize = 2, kHidden = 3;

  // Short sequences, which are unrolled, and longer ones, which are loops.
  void ExpectReference(const Reference& ref, const std::vector<Attribute>& attributes) {
    ExpectReference(4, ref, attributes);
    ExpectReference(11, ref, attributes);
    EXPECT_EQ(CountNodes(Op::kRepeat), 2);  // one of each direction
  }

  // Both directions, from initial states, sequences of `length`, 1 and 3 steps.
  void ExpectReference(int64_t length, Reference ref, std::vector<Attribute> attributes) {
    const bool is_lstm = ref.kind == "LSTM";
    ref.gates = is_lstm ? 4 : ref.kind == "GRU" ? 3 : 1;
    ref.hidden = kHidden;
    const int64_t rows = ref.gates * kHidden;
    const Array x = Random({length, kBatch, kSize}), h = Random({2, kBatch, kHidden}),
                c = Random({2, kBatch, kHidden});
    ref.w = Random({2, rows, kSize});
    ref.r = Random({2, rows, kHidden});
    ref.b = Random({2, 2 * rows});
    const std::vector<double> lengths{static_cast<double>(length), 1, 3};
    attributes.push_back(Attr("direction", "bidirectional"));
    std::vector<std::optional<Array>> inputs{x, ref.w, ref.r, ref.b, Integers({kBatch}, lengths),
                                             h};
    if (is_lstm) {
      inputs.push_back(c);
      inputs.push_back(ref.peepholes);
    }
    const auto y = RunNode("", ref.kind, inputs, attributes, is_lstm ? 3 : 2);
    ASSERT_EQ(error_, "");
    ASSERT_EQ(y[0].shape, (Ints{length, 2, kBatch, kHidden}));
    for (int64_t d = 0; d < 2; ++d) {
      for (int64_t n = 0; n < kBatch; ++n) {
        std::vector<double> state, cell;
        for (int64_t j = 0; j < kHidden; ++j)
          state.push_back(h({d, n, j})), cell.push_back(c({d, n, j}));
        const auto steps = static_cast<int64_t>(lengths[static_cast<size_t>(n)]);
        const auto expected = ref.Run(x, d, d == 1, n, steps, state, cell);
        for (int64_t j = 0; j < kHidden; ++j) {
          const auto u = static_cast<size_t>(j);
          for (int64_t t = 0; t < length; ++t) {
            EXPECT_NEAR(y[0]({t, d, n, j}), expected[static_cast<size_t>(t)][u], 1e-8);
          }
          EXPECT_NEAR(y[1]({d, n, j}), state[u], 1e-8);
          if (is_lstm) {
            EXPECT_NEAR(y[2]({d, n, j}), cell[u], 1e-8);
          }
        }
      }
    }
  }

  static std::vector<Function> Twice(std::vector<Function> f) {
    const size_t n = f.size();
    for (size_t i = 0; i < n; ++i) f.push_back(f[i]);
    return f;
  }
  const Function tanh_ = [](double v) { return std::tanh(v); };
};

TEST_F(RecurrentTest, Lstm) {
  Reference r{"LSTM", Twice({Sigmoid, tanh_, tanh_}), 0, 0};
  ExpectReference(r, {});
  r.peepholes = Random({2, 3 * kHidden});
  ExpectReference(r, {});
  r.clip = 0.3f;
  r.input_forget = true;
  ExpectReference(r, {Attr("clip", 0.3f), Attr("input_forget", 1)});
}

TEST_F(RecurrentTest, Gru) {
  Reference r{"GRU", Twice({Sigmoid, tanh_}), 0, 0};
  ExpectReference(r, {});
  r.linear_before_reset = true;
  ExpectReference(r, {Attr("linear_before_reset", 1)});
}

TEST_F(RecurrentTest, ActivationsTakeTheirParametersInOrder) {
  // LeakyRelu takes an alpha and no beta; the default of HardSigmoid's beta stays.
  const Function leaky = [](double v) { return v < 0 ? 0.25 * v : v; };
  const Function scaled = [](double v) { return 0.5 * std::tanh(0.75 * v); };
  ExpectReference({"RNN", {leaky, scaled}, 0, 0},
                  {Attr("activations", std::vector<std::string_view>{"LeakyRelu", "ScaledTanh"}),
                   Attr("activation_alpha", std::vector<float>{0.25f, 0.5f}),
                   Attr("activation_beta", std::vector<float>{0.75f})});
  const Function hard = [](double v) { return std::clamp(0.5 * v + 0.5, 0.0, 1.0); };
  ExpectReference({"RNN", {tanh_, hard}, 0, 0},
                  {Attr("activations", std::vector<std::string_view>{"tanh", "HardSigmoid"}),
                   Attr("activation_alpha", std::vector<float>{0.5f})});
}

TEST_F(RecurrentTest, BatchFirstIsTransposed) {
  const Array x = Random({2, 4, 3}), w = Random({1, 5, 3}), r = Random({1, 5, 5}),
              h = Random({2, 1, 5});
  const auto y = RunNode("", "RNN", {x, w, r, {}, {}, h}, {Attr("layout", 1)}, 2);
  ASSERT_EQ(error_, "");
  ASSERT_EQ(y[0].shape, (Ints{2, 4, 1, 5}));
  ASSERT_EQ(y[1].shape, (Ints{2, 1, 5}));
  for (int64_t n = 0; n < 2; ++n) {
    double first = 0;
    for (int64_t i = 0; i < 3; ++i) first += x({n, 0, i}) * w({0, 2, i});
    for (int64_t i = 0; i < 5; ++i) first += h({n, 0, i}) * r({0, 2, i});
    EXPECT_NEAR(y[0]({n, 0, 0, 2}), std::tanh(first), 1e-8);
    EXPECT_EQ(y[0]({n, 3, 0, 2}), y[1]({n, 0, 2}));
  }
}

// A sequence of symbolic length gives what one of this length gives.
TEST_F(RecurrentTest, SymbolicLengths) {
  const Array x = Random({3, 2, 4}), w = Random({2, 20, 4}), r = Random({2, 20, 5}),
              h = Random({2, 2, 5}), c = Random({2, 2, 5});
  const auto direction = [] { return Attr("direction", "bidirectional"); };
  const auto expected = RunNode("", "LSTM", {x, w, r, {}, {}, h, c}, {direction()}, 3);
  ASSERT_EQ(error_, "");
  std::vector<Value> inputs = {
      SymbolicInput(x, "n", 100000), Input(w), Input(r), nullptr, nullptr, Input(h), Input(c)};
  const auto actual = Evaluate(Import("LSTM", 24, inputs, {direction()}, 3));
  ASSERT_EQ(error_, "");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(actual[i].shape, expected[i].shape);
    for (size_t k = 0; k < expected[i].data.size(); ++k) {
      EXPECT_NEAR(actual[i].data[k], expected[i].data[k], 1e-12);
    }
  }
  inputs[2] = SymbolicInput(r, "m", 257);
  Import("LSTM", 24, inputs, {direction()}, 3);
  EXPECT_EQ(error_, "a recurrence with weights of a symbolic shape");
}

// Without stored states, the work grows with the square of the length.
TEST_F(RecurrentTest, EveryStepStoresItsState) {
  for (const int64_t length : {3, 7}) {
    RunNode("", "LSTM", {Random({length, 1, 2}), Random({1, 8, 2}), Random({1, 8, 2})}, {}, 1);
    // The inputs' product, and hidden and cell states, of which the last cell is not used.
    EXPECT_EQ(CountNodes(Op::kContiguous), static_cast<size_t>(2 * length));
  }
}

TEST_F(RecurrentTest, RefusesWhatDoesNotFit) {
  const Array x = Random({3, 1, 2}), w = Random({1, 8, 2}), r = Random({1, 8, 2});
  RunNode("", "LSTM", {x, w, r}, {Attr("direction", "bidirectional")}, 1);
  EXPECT_EQ(error_, "the direction 'bidirectional' with weights for 1");
  RunNode("", "LSTM", {x, w, r}, {Attr("activations", std::vector<std::string_view>{"Tanh"})}, 1);
  EXPECT_EQ(error_, "1 activations instead of 3");
  const Array one = Random({1, 2, 2});
  RunNode("", "RNN", {x, one, one}, {Attr("activations", std::vector<std::string_view>{"Cube"})},
          1);
  EXPECT_EQ(error_, "the activation 'Cube' is not read");
  RunNode("", "GRU", {x, w, r}, {}, 1);
  EXPECT_EQ(error_, "recurrent weights f64[1, 8, 2] for 3 gates of hidden size 2");
}

}  // namespace
}  // namespace tg::onnx
