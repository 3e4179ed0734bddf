// Recurrent layers.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/common/loop_builder.h"
#include "frontend/onnx/activations.h"
#include "frontend/onnx/graph_importer.h"
#include "frontend/onnx/recurrent.h"

namespace tg::onnx {
namespace {

// The properties of a layer, which are the same for all steps.
struct Layer {
  std::string_view kind;  // "LSTM", "GRU" or "RNN"
  int64_t gates = 1;
  int64_t num_activations = 1;  // of a direction
  int64_t hidden = 0, directions = 1;
  Dim length = 0, batch = 1;
  Scalar type = Scalar::kF32;
  double clip = 0;          // 0: none
  Value lengths = nullptr;  // [batch, 1], i32
};

struct Function {
  std::string_view name;
  std::optional<double> alpha, beta;
};

struct State {
  Value h = nullptr, c = nullptr;  // [batch, hidden]
};

class Recurrence {
 public:
  Recurrence(NodeContext& c, const GateProduct& product) : c_(c), g_(c.g), product_(product) {}

  void Run() {
    if (!ReadLayer() || !ReadFunctions()) return;
    std::vector<Value> sequences, hiddens, cells;
    for (int64_t d = 0; d < layer_.directions; ++d) {
      State state;
      sequences.push_back(RunDirection(d, state));
      if (!g_.ok()) return;
      hiddens.push_back(state.h);
      if (state.c) cells.push_back(state.c);
    }
    // [length, directions, batch, hidden] and [directions, batch, hidden], or the batch first.
    const bool batch_first = c_.Int("layout", 0) != 0;
    Value y = g_.Stack(sequences, 1);
    if (batch_first && y) y = g_.Permute(y, {2, 0, 1, 3});
    Return(y, 0);
    Return(g_.Stack(hiddens, batch_first ? 1 : 0), 1);
    if (!cells.empty()) Return(g_.Stack(cells, batch_first ? 1 : 0), 2);
  }

 private:
  void Return(Value v, size_t i) { c_.Return(g_.Cast(v, result_), i); }

  bool ReadLayer() {
    const std::string_view op = c_.node.op;
    layer_.kind = op.ends_with("LSTM") ? "LSTM" : op;
    if (layer_.kind == "LSTM") layer_.gates = 4, layer_.num_activations = 3;
    if (layer_.kind == "GRU") layer_.gates = 3, layer_.num_activations = 2;
    x_ = c_.In(0);
    const Value r = c_.In(2);
    if (!x_ || !r || !c_.In(1)) return false;
    if (g_.Rank(x_) != 3 || g_.Rank(r) != 3) {
      c_.Fail("a sequence or weights of another rank than 3");
      return false;
    }
    if (c_.Int("layout", 0)) x_ = g_.SwapAxes(x_, 0, 1);
    result_ = x_->dtype.scalar();
    layer_.type = BitWidth(result_) < 32 ? Scalar::kF32 : result_;
    x_ = g_.Cast(x_, layer_.type);
    layer_.length = g_.Extent(x_, 0);
    const Dim directions = g_.Extent(r, 0);
    // One of the two is the number of gates times the other.
    const Dim a = g_.Extent(r, 1), b = g_.Extent(r, 2);
    if (directions.is_symbolic() || a.is_symbolic() || b.is_symbolic()) {
      c_.Fail("a recurrence with weights of a symbolic shape");
      return false;
    }
    layer_.hidden = std::min(a.value(), b.value());
    if (std::max(a.value(), b.value()) != layer_.gates * layer_.hidden ||
        c_.Int("hidden_size", layer_.hidden) != layer_.hidden) {
      c_.Fail(absl::StrCat("recurrent weights ", g_.Describe(r), " for ", layer_.gates,
                           " gates of hidden size ", c_.Int("hidden_size", layer_.hidden)));
      return false;
    }
    layer_.batch = g_.Extent(x_, 1);
    layer_.directions = directions.value();
    const std::string_view direction = c_.String("direction", "forward");
    const bool known =
        direction == "forward" || direction == "reverse" || direction == "bidirectional";
    if (!known || layer_.directions != (direction == "bidirectional" ? 2 : 1)) {
      c_.Fail(absl::StrCat("the direction '", std::string(direction), "' with weights for ",
                           layer_.directions));
      return false;
    }
    if (!layer_.length.is_symbolic() && layer_.length.value() < 1) {
      c_.Fail("a sequence of no steps");
      return false;
    }
    layer_.clip = c_.Float("clip", 0);
    if (c_.Has(4)) {
      const auto ints = g_.KnownInts(c_.In(4));
      const bool full = ints && std::all_of(ints->begin(), ints->end(),
                                            [&](int64_t n) { return layer_.length.Is(n); });
      if (!full) layer_.lengths = g_.Unsqueeze(g_.Cast(c_.In(4), Scalar::kI32), 1);
    }
    return g_.ok();
  }

  // Alphas and betas belong, in order, to the functions that have them.
  bool ReadFunctions() {
    const Attribute* names = c_.Find("activations", AttributeType::kStrings);
    const auto alphas = c_.Floats("activation_alpha").value_or(std::vector<float>());
    const auto betas = c_.Floats("activation_beta").value_or(std::vector<float>());
    const auto count = static_cast<size_t>(layer_.num_activations * layer_.directions);
    if (names && names->strings.size() != count) {
      c_.Fail(absl::StrCat(names->strings.size(), " activations instead of ", count));
      return false;
    }
    size_t alpha = 0, beta = 0;
    for (size_t i = 0; i < count; ++i) {
      const bool is_gate =
          layer_.kind != "RNN" && i % static_cast<size_t>(layer_.num_activations) == 0;
      Function f{names ? names->strings[i] : is_gate ? "Sigmoid" : "Tanh", {}, {}};
      const int parameters = NumActivationParameters(f.name).value_or(0);
      if (parameters > 0 && alpha < alphas.size()) f.alpha = alphas[alpha++];
      if (parameters > 1 && beta < betas.size()) f.beta = betas[beta++];
      functions_.push_back(f);
    }
    return true;
  }

  // Gates of a direction: columns [first, last) times the hidden size.
  Value Gate(Value x, int64_t first, int64_t last) {
    return g_.Slice(x, -1, first * layer_.hidden, last * layer_.hidden);
  }
  // Direction `d` of an input [directions, n]; null where it is left out.
  Value Row(size_t input, int64_t d) {
    const Value v = c_.Optional(input);
    return v ? g_.Squeeze(g_.Cast(g_.Slice(v, 0, d, d + 1), layer_.type), 0) : nullptr;
  }
  Value Initial(size_t input, int64_t d) {
    const Value v = c_.Optional(input);
    if (!v) return g_.Full({layer_.batch, Dim(layer_.hidden)}, g_.Const(layer_.type, 0));
    const int64_t axis = c_.Int("layout", 0) ? 1 : 0;
    return g_.Cast(g_.Squeeze(g_.Slice(v, axis, d, d + 1), axis), layer_.type);
  }
  // A function of what is summed for a gate, which is clipped.
  Value Apply(int64_t function, Value sum) {
    if (layer_.clip > 0) sum = g_.Clip(sum, g_.Like(sum, -layer_.clip), g_.Like(sum, layer_.clip));
    return ApplyUnclipped(function, sum);
  }
  Value ApplyUnclipped(int64_t function, Value x) {
    const Function& f = functions_[static_cast<size_t>(d_ * layer_.num_activations + function)];
    return Activate(g_, f.name, x, f.alpha, f.beta);
  }

  // The hidden state of each step, in the order of time, [length, batch, hidden]; the last state in
  // `state`.
  Value RunDirection(int64_t d, State& state) {
    d_ = d;
    const bool backwards = d == 1 || c_.String("direction", "forward") == "reverse";
    state.h = Initial(5, d);
    if (layer_.kind == "LSTM") state.c = Initial(6, d);
    // What the inputs contribute, of all steps in one product: [length, batch, gates * hidden].
    const Value bias = Row(3, d);
    recurrent_bias_ = nullptr;
    Value inputs = product_(x_, 1, d, 0, layer_.gates);
    if (bias) {
      const Value of_inputs = Gate(bias, 0, layer_.gates);
      const Value of_state = Gate(bias, layer_.gates, 2 * layer_.gates);
      if (layer_.kind == "GRU" && c_.Int("linear_before_reset", 0)) {
        // The reset gate scales the last gate's recurrent bias as well.
        recurrent_bias_ = Gate(of_state, 2, 3);
        const Value parts[] = {g_.Add(Gate(of_inputs, 0, 2), Gate(of_state, 0, 2)),
                               Gate(of_inputs, 2, 3)};
        inputs = g_.Add(inputs, g_.Concat(parts, 0));
      } else {
        inputs = g_.Add(inputs, g_.Add(of_inputs, of_state));
      }
    }
    // Stored once, so that a step computes only the recurrent product.
    inputs = g_.Stored(inputs);
    peepholes_ = layer_.kind == "LSTM" ? Row(7, d) : nullptr;
    if (layer_.length.is_symbolic() || layer_.length.value() > kMaxUnrolledSteps) {
      return Loop(inputs, backwards, state);
    }
    const int64_t length = layer_.length.value();
    std::vector<Value> steps(static_cast<size_t>(length));
    for (int64_t k = 0; k < length && g_.ok(); ++k) {
      const int64_t t = backwards ? length - 1 - k : k;
      // Stored, because otherwise a step would compute the states of all steps before it again.
      const State next = StepAt(t, inputs, state);
      state = {g_.Stored(next.h), g_.Stored(next.c)};
      steps[static_cast<size_t>(t)] = ResultAt(t, state.h);
    }
    return g_.Stack(steps, 0);
  }

  Value Loop(Value inputs, bool backwards, State& state) {
    is_loop_ = true;
    frontend::LoopBuilder loop(g_, layer_.kind, layer_.length);
    if (!g_.ok()) return nullptr;
    const State now{loop.AddState(state.h), state.c ? loop.AddState(state.c) : nullptr};
    const Dim t = backwards ? g_.SubDim(g_.SubDim(layer_.length, 1), loop.step()) : loop.step();
    const State next = StepAt(t, inputs, now);
    loop.SetNext(0, next.h);
    if (state.c) loop.SetNext(1, next.c);
    const size_t rows = loop.AddRows(ResultAt(t, next.h), t);
    if (!g_.ok() || !loop.Finish(NodeName(c_.node))) return nullptr;
    state = {loop.Last(0), state.c ? loop.Last(1) : nullptr};
    return loop.Rows(rows);
  }

  // The states after the step at time t.
  State StepAt(const Dim& t, Value inputs, const State& state) {
    const Value x = g_.Squeeze(g_.Slice(inputs, 0, t, g_.AddDim(t, 1)), 0);
    State next = Step(x, state);
    if (!layer_.lengths) return next;
    // Past its end a sequence keeps its state.
    next.h = g_.Where(Runs(t), next.h, state.h);
    if (next.c) next.c = g_.Where(Runs(t), next.c, state.c);
    return next;
  }

  Value Runs(const Dim& t) { return g_.Lt(g_.DimValue(Scalar::kI32, t), layer_.lengths); }

  // What a step returns; 0 past the end of a sequence.
  Value ResultAt(const Dim& t, Value h) {
    return layer_.lengths ? g_.Where(Runs(t), h, g_.Like(h, 0)) : h;
  }

  // What the state contributes to gates [first, last). In a loop each gate has its product,
  // so that one kernel computes the gates of a unit and its next state. Not where sequences end
  // early: a state that is kept is no value that the next one is computed from.
  std::vector<Value> StateGates(Value rows, int64_t first, int64_t last) {
    std::vector<Value> gates;
    if (is_loop_ && !layer_.lengths) {
      for (int64_t i = first; i < last; ++i) gates.push_back(product_(rows, 2, d_, i, i + 1));
      return gates;
    }
    Value all = product_(rows, 2, d_, first, last);
    // The kernel behind it reads the product for each of its results.
    if (is_loop_ && layer_.kind != "RNN") all = g_.Stored(all);
    for (int64_t i = 0; i < last - first; ++i) gates.push_back(Gate(all, i, i + 1));
    return gates;
  }

  State Step(Value x, const State& state) {
    if (layer_.kind == "LSTM") return LstmStep(x, state);
    if (layer_.kind == "GRU") return GruStep(x, state);
    return {Apply(0, g_.Add(x, StateGates(state.h, 0, 1)[0])), nullptr};
  }

  State LstmStep(Value x, const State& state) {
    const std::vector<Value> of_state = StateGates(state.h, 0, 4);
    const auto gate = [&](int64_t i, int64_t peephole, Value cell) {
      const Value sum = g_.Add(Gate(x, i, i + 1), of_state[static_cast<size_t>(i)]);
      return peepholes_ && peephole >= 0
                 ? g_.Add(sum, g_.Mul(Gate(peepholes_, peephole, peephole + 1), cell))
                 : sum;
    };
    const Value input = Apply(0, gate(0, 0, state.c));
    const Value forget = c_.Int("input_forget", 0) ? g_.Sub(g_.Like(input, 1), input)
                                                   : Apply(0, gate(2, 2, state.c));
    const Value cell =
        g_.Add(g_.Mul(forget, state.c), g_.Mul(input, Apply(1, gate(3, -1, nullptr))));
    const Value output = Apply(0, gate(1, 1, cell));
    return {g_.Mul(output, ApplyUnclipped(2, cell)), cell};
  }

  State GruStep(Value x, const State& state) {
    const bool linear = c_.Int("linear_before_reset", 0) != 0;
    const std::vector<Value> of_state = StateGates(state.h, 0, linear ? 3 : 2);
    const auto gate = [&](int64_t i) {
      return Apply(0, g_.Add(Gate(x, i, i + 1), of_state[static_cast<size_t>(i)]));
    };
    const Value update = gate(0), reset = gate(1);
    Value recurrent = nullptr;
    if (linear) {
      recurrent = of_state[2];
      if (recurrent_bias_) recurrent = g_.Add(recurrent, recurrent_bias_);
      recurrent = g_.Mul(reset, recurrent);
    } else {
      recurrent = StateGates(g_.Mul(reset, state.h), 2, 3)[0];
    }
    const Value hidden = Apply(1, g_.Add(Gate(x, 2, 3), recurrent));
    // (1 - z) h' + z h
    return {g_.Add(g_.Mul(g_.Sub(g_.Like(update, 1), update), hidden), g_.Mul(update, state.h)),
            nullptr};
  }

  NodeContext& c_;
  GraphBuilder& g_;
  const GateProduct& product_;
  Layer layer_;
  std::vector<Function> functions_;
  Scalar result_ = Scalar::kF32;
  Value x_ = nullptr;  // [length, batch, inputs]
  // State of the direction that is being built.
  int64_t d_ = 0;
  bool is_loop_ = false;
  Value peepholes_ = nullptr, recurrent_bias_ = nullptr;
};

void Recurrent(NodeContext& c) {
  // Weights: [directions, gates * hidden, inputs].
  ImportRecurrent(c, [&](Value rows, size_t which, int64_t direction, int64_t first, int64_t last) {
    const Value all = c.In(which), r = c.In(2);
    if (!all || !rows || !r) return Value{nullptr};
    const int64_t hidden = c.g.Extent(r, 2).value();
    Value w = c.g.Squeeze(c.g.Slice(all, 0, direction, direction + 1), 0);
    w = c.g.Slice(w, 0, first * hidden, last * hidden);
    return c.g.MatMul(rows, c.g.SwapAxes(c.g.Cast(w, rows->dtype.scalar()), 0, 1));
  });
}

constexpr Operator kRecurrentOperators[] = {
    {"", "GRU", 1, Recurrent},
    {"", "LSTM", 1, Recurrent},
    {"", "RNN", 1, Recurrent},
};

}  // namespace

void ImportRecurrent(NodeContext& c, const GateProduct& product) { Recurrence(c, product).Run(); }

std::span<const Operator> RecurrentOperators() { return kRecurrentOperators; }

}  // namespace tg::onnx
