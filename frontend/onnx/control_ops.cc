// Loops: short ones are resolved at import.
#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "frontend/common/loop_builder.h"
#include "frontend/onnx/graph_importer.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/operators.h"

namespace tg::onnx {
namespace {

// Results that an iteration adds to, stacked along a new axis.
Value StackAll(NodeContext& c, const std::vector<Tensor>& parts, int64_t axis, bool reversed) {
  std::vector<Value> values;
  for (const Tensor& t : parts) values.push_back(t.value);
  if (reversed) std::reverse(values.begin(), values.end());
  return c.g.Stack(values, axis);
}

// What a result that is stacked along a new axis is after no iterations: 0 elements of the type and
// shape that the body declares, or if those are open, of what it computes of `inputs`.
std::optional<Tensor> StackNone(NodeContext& c, size_t result, std::span<const Tensor> inputs,
                                int64_t axis) {
  const Attribute* body = c.Find("body", AttributeType::kGraph);
  if (!body || result >= body->graph->outputs.size()) {
    c.Fail("a body of fewer results than the node has");
    return std::nullopt;
  }
  const TypeProto& declared = body->graph->outputs[result].type;
  std::optional<Scalar> scalar = ScalarFor(declared.element);
  ElementType type = declared.element;
  Shape shape;
  bool is_known = scalar && declared.kind == TypeProto::Kind::kTensor && declared.shape;
  if (is_known) {
    for (const Dimension& d : *declared.shape) {
      is_known = is_known && d.value && *d.value >= 0;
      if (is_known) shape.push_back(*d.value);
    }
  }
  if (!is_known) {
    const std::vector<Tensor> results = c.RunSubgraph("body", inputs);
    if (result >= results.size() || !results[result].value) {
      c.Fail("a result of no iterations, whose shape is unknown");
      return std::nullopt;
    }
    scalar = results[result].value->dtype.scalar();
    type = results[result].type;
    shape = c.g.ShapeOf(results[result].value);
  }
  const auto at = c.g.Axis(axis, shape.size() + 1);
  if (!at) return std::nullopt;
  shape.insert(shape.begin() + *at, Dim(0));
  return Tensor{c.g.Full(shape, c.g.Const(*scalar, 0)), type, nullptr};
}

// The inputs of a loop's body.
std::vector<Tensor> Iteration(NodeContext& c, int64_t i, const std::vector<Tensor>& carried) {
  std::vector<Tensor> inputs{{c.g.ConstInt(Scalar::kI64, i), ElementType::kInt64, nullptr},
                             {c.g.ir().Bool(true), ElementType::kBool, nullptr}};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  return inputs;
}

void UnrollLoop(NodeContext& c) {
  int64_t trips = kMaxUnrolledIterations;
  bool bounded = false;
  if (c.Has(0)) {
    const auto known = c.KnownInt(0);
    if (!known) return;
    trips = std::min(*known, int64_t{1} << 40);
    bounded = true;
  }
  bool goes_on = true;
  if (c.Has(1)) {
    const auto known = c.KnownInt(1);
    if (!known) return;
    goes_on = *known != 0;
  }
  std::vector<Tensor> carried;
  for (size_t i = 2; i < c.num_inputs(); ++i) carried.push_back(c.Input(i));
  const size_t num_carried = carried.size();
  std::vector<std::vector<Tensor>> scanned(
      c.node.outputs.size() > num_carried ? c.node.outputs.size() - num_carried : 0);
  for (int64_t i = 0; goes_on && i < trips; ++i) {
    if (i == kMaxUnrolledIterations) {
      c.Fail(absl::StrCat("a loop of more than ", kMaxUnrolledIterations, " iterations"));
      return;
    }
    const std::vector<Tensor> results = c.RunSubgraph("body", Iteration(c, i, carried));
    if (!c.g.ok()) return;
    if (results.size() < 1 + num_carried) {
      c.Fail("a body of fewer results than carried values");
      return;
    }
    for (size_t k = 0; k < num_carried; ++k) carried[k] = results[1 + k];
    for (size_t k = 0; k < scanned.size() && 1 + num_carried + k < results.size(); ++k) {
      scanned[k].push_back(results[1 + num_carried + k]);
    }
    const auto next = c.g.KnownInts(results[0].value, /*with_inputs=*/true);
    if (!next || next->empty()) {
      c.Fail("a loop whose end depends on an input");
      return;
    }
    goes_on = (*next)[0] != 0;
  }
  if (!bounded && goes_on && trips == kMaxUnrolledIterations) {
    c.Fail("a loop without end");
    return;
  }
  for (size_t k = 0; k < num_carried; ++k) c.Return(carried[k], k);
  for (size_t k = 0; k < scanned.size(); ++k) {
    if (!c.Wants(num_carried + k)) continue;
    if (scanned[k].empty()) {
      const auto none = StackNone(c, 1 + num_carried + k, Iteration(c, 0, carried), 0);
      if (!none) return;
      c.Return(*none, num_carried + k);
      continue;
    }
    c.Return(StackAll(c, scanned[k], 0, false), num_carried + k, scanned[k][0].type);
  }
}

// `x` below casts and reshapes, which leave a small integer as it is.
Value Integer(Value x) {
  while (x->op == Op::kReshape || (x->op == Op::kCast && !x->src(0)->dtype.is_index())) {
    x = x->src(0);
  }
  return x;
}

// The node as a loop, for which the shapes of what is carried stay the same and only `trip` and a
// condition decide where it ends. Null, or an error, where it is not of this kind.
class LoopNode {
 public:
  explicit LoopNode(NodeContext& c) : c_(c), g_(c.g) {}

  bool Run() {
    if (!ReadTrip()) return false;
    if (!c_.Has(0) && c_.Has(1) && !IsCounted()) return false;
    frontend::LoopBuilder loop(g_, "Loop", trip_);
    if (!g_.ok()) return false;
    std::vector<Tensor> inputs{
        {g_.DimValue(Scalar::kI64, loop.step()), ElementType::kInt64, nullptr},
        {g_.ir().Bool(true), ElementType::kBool, nullptr}};
    const size_t carried = c_.num_inputs() - std::min<size_t>(c_.num_inputs(), 2);
    for (size_t i = 0; i < carried; ++i) {
      const Tensor& input = c_.Input(2 + i);
      if (!input.value) return false;
      inputs.push_back({loop.AddState(input.value), input.type, nullptr});
    }
    const std::vector<Tensor> results = c_.RunSubgraph("body", inputs);
    if (!g_.ok() || results.size() < 1 + carried || results.size() < 1 + c_.node.outputs.size()) {
      return false;
    }
    for (const Tensor& t : results) {
      if (!t.value) return false;
    }
    for (size_t k = 0; k < carried; ++k) loop.SetNext(k, results[1 + k].value);
    if (!SetCondition(loop, carried, results[0].value)) return false;
    std::vector<size_t> rows;
    for (size_t k = carried; k < c_.node.outputs.size(); ++k) {
      rows.push_back(loop.AddRows(results[1 + k].value, loop.step()));
    }
    if (!g_.ok() || !loop.Finish(NodeName(c_.node))) return false;
    for (size_t k = 0; k < carried; ++k) c_.Return(loop.Last(k), k, results[1 + k].type);
    for (size_t k = 0; k < rows.size(); ++k) {
      c_.Return(loop.Rows(rows[k]), carried + k, results[1 + carried + k].type);
    }
    return true;
  }

 private:
  // How often it runs at most, and whether data decide.
  bool ReadTrip() {
    if (c_.Has(1)) {
      const auto known = g_.KnownInts(c_.In(1), /*with_inputs=*/true);
      if (!known || known->size() != 1) start_ = g_.Reshape(c_.In(1), {});
      if (known && known->size() == 1 && (*known)[0] == 0) return false;
    }
    if (!c_.Has(0)) return true;
    const auto known = g_.KnownDims(c_.In(0), /*with_inputs=*/true);
    if (known && known->size() == 1) {
      trip_ = (*known)[0];
      return trip_.is_symbolic() || trip_.value() > kMaxUnrolledSteps;
    }
    count_ = g_.Cast(g_.Reshape(c_.In(0), {}), Scalar::kI64);
    return g_.ok();
  }

  // Where the end of a loop without a trip count is a matter of counting, sets the trip count: the
  // condition is counter + step < end, for a carried integer that begins at a known number and
  // grows by a known step, and an end that stays the same. TensorFlow writes its loops so. Returns
  // false if the node is rather unrolled, or after an error.
  bool IsCounted() {
    frontend::LoopBuilder loop(g_, "Loop", trip_);
    std::vector<Tensor> inputs{
        {g_.DimValue(Scalar::kI64, loop.step()), ElementType::kInt64, nullptr},
        {g_.ir().Bool(true), ElementType::kBool, nullptr}};
    std::vector<Value> states;
    for (size_t i = 2; i < c_.num_inputs(); ++i) {
      if (!c_.Input(i).value) return false;
      states.push_back(loop.AddState(c_.Input(i).value));
      inputs.push_back({states.back(), c_.Input(i).type, nullptr});
    }
    const std::vector<Tensor> results = c_.RunSubgraph("body", inputs);
    if (!g_.ok() || results.size() < 1 + states.size() || !results[0].value) return g_.ok();
    const auto stays = [&](size_t k) {
      return results[1 + k].value && Integer(results[1 + k].value) == Integer(states[k]);
    };
    const Value condition = Integer(results[0].value);
    if (condition->op != Op::kCmpLt) return true;
    const Value next = Integer(condition->src(0));
    Value end = Integer(condition->src(1));
    std::optional<double> first, step;  // of an integer type
    for (size_t k = 0; k < states.size(); ++k) {
      if (end == Integer(states[k]) && stays(k)) end = Integer(c_.In(2 + k));
      const bool is_counter = results[1 + k].value && Integer(results[1 + k].value) == next &&
                              next->op == Op::kAdd && IsInt(next->dtype.scalar());
      if (!is_counter) continue;
      for (const size_t by : {0, 1}) {
        if (Integer(next->src(1 - by)) != Integer(states[k])) continue;
        step = KnownNumber(next->src(by));
        first = KnownNumber(c_.In(2 + k));
      }
    }
    if (!first || !step || *step < 1 || !IsInt(end->dtype.scalar())) return true;
    const auto known = g_.KnownDims(end, /*with_inputs=*/true);
    if (!known || known->size() != 1 || !BeginsBelow(static_cast<int64_t>(*first), (*known)[0])) {
      return true;
    }
    const Dim left = g_.SubDim((*known)[0], static_cast<int64_t>(*first));
    if (left.is_symbolic() && *step != 1) return true;
    trip_ = left.is_symbolic() ? left : Dim(CeilDiv(left.value(), static_cast<int64_t>(*step)));
    counts_ = true, start_ = nullptr;
    return g_.ok() && (trip_.is_symbolic() || trip_.value() > kMaxUnrolledSteps);
  }

  std::optional<double> KnownNumber(Value x) {
    const auto known = g_.KnownNumbers(x, /*with_inputs=*/true);
    return known && known->size() == 1 ? std::optional((*known)[0]) : std::nullopt;
  }

  // Whether the condition of the first iteration is first < end.
  bool BeginsBelow(int64_t first, const Dim& end) {
    if (!end.is_symbolic() && !start_) return first < end.value();
    const Value condition = start_ ? Integer(start_) : nullptr;
    if (!condition || condition->op != Op::kCmpLt) return false;
    const auto known = g_.KnownDims(Integer(condition->src(1)), /*with_inputs=*/true);
    return KnownNumber(condition->src(0)) == static_cast<double>(first) && known &&
           known->size() == 1 && (*known)[0] == end;
  }

  // The condition of the next iteration is a state, unless it is always true.
  bool SetCondition(frontend::LoopBuilder& loop, size_t state, Value next) {
    if (counts_) return true;
    const auto known = g_.KnownInts(next, /*with_inputs=*/true);
    const bool always = known && known->size() == 1 && (*known)[0] != 0;
    if (always && !start_ && !count_) return c_.Has(0);
    if (c_.node.outputs.size() > state) {
      g_.Fail("a loop that stacks results, and whose end depends on an input");
      return false;
    }
    Value start = start_ ? start_ : g_.ir().Bool(true);
    next = g_.Reshape(next, {});
    if (count_) {
      const Value done = g_.DimValue(Scalar::kI64, g_.AddDim(loop.step(), 1));
      start = g_.And(start, g_.Lt(g_.ConstInt(Scalar::kI64, 0), count_));
      next = g_.And(next, g_.Lt(done, count_));
    }
    loop.AddState(start);
    loop.SetNext(state, next);
    loop.SetCondition(state);
    return true;
  }

  NodeContext& c_;
  GraphBuilder& g_;
  Dim trip_ = std::numeric_limits<int32_t>::max();
  Value count_ = nullptr;  // the trip count, where data decide it
  Value start_ = nullptr;  // the condition of the first iteration, where data decide it
  bool counts_ = false;    // the conditions say no more than trip_ does
};

void Loop(NodeContext& c) {
  if (LoopNode(c).Run()) return;
  const std::string why = c.g.error();
  c.g.ClearError();
  UnrollLoop(c);
  // The reason for which it is no loop says more than the one for which it is not unrolled.
  if (c.g.ok() || why.empty()) return;
  c.g.ClearError();
  c.Fail(why);
}

Value MoveFirstAxis(NodeContext& c, Value x, int64_t to) {
  Ints order;
  for (int64_t k = 1; k < static_cast<int64_t>(c.g.Rank(x)); ++k) order.push_back(k);
  order.insert(order.begin() + to, 0);
  return c.g.Permute(x, order);
}

// A scan as a loop. `part(i, step)` is what iteration `step` reads of scanned input i. Changes
// `state` to the last one, and sets `rows` to the results of all iterations, stacked along the
// first axis. False, perhaps with an error, where it is no loop.
template <typename Part>
bool ScanLoop(NodeContext& c, const Dim& length, size_t num_scanned, const Part& part,
              const Ints& result_backwards, std::vector<Tensor>& state, std::vector<Tensor>& rows) {
  frontend::LoopBuilder loop(c.g, "Scan", length);
  if (!c.g.ok()) return false;
  std::vector<Tensor> inputs;
  for (const Tensor& t : state) {
    if (!t.value) return false;
    inputs.push_back({loop.AddState(t.value), t.type, nullptr});
  }
  for (size_t i = 0; i < num_scanned; ++i) inputs.push_back(part(i, loop.step()));
  std::vector<Tensor> results = c.RunSubgraph("body", inputs);
  if (!c.g.ok() || results.size() < state.size() + result_backwards.size()) return false;
  for (const Tensor& t : results) {
    if (!t.value) return false;
  }
  for (size_t k = 0; k < state.size(); ++k) loop.SetNext(k, results[k].value);
  for (size_t k = 0; k < result_backwards.size(); ++k) {
    const Dim row =
        result_backwards[k] ? c.g.SubDim(c.g.SubDim(length, 1), loop.step()) : loop.step();
    loop.AddRows(results[state.size() + k].value, row);
  }
  if (!c.g.ok() || !loop.Finish(NodeName(c.node))) return false;
  for (size_t k = 0; k < result_backwards.size(); ++k) {
    rows.push_back({loop.Rows(k), results[state.size() + k].type, nullptr});
  }
  for (size_t k = 0; k < state.size(); ++k) {
    state[k] = {loop.Last(k), results[k].type, nullptr};
  }
  return true;
}

void Scan(NodeContext& c) {
  // In opset 8 the inputs were batched and sequence lengths came first.
  const auto num_scanned = static_cast<size_t>(c.Int("num_scan_inputs", 0));
  const size_t batched = c.opset < 9 ? 1 : 0;
  if (num_scanned == 0 || num_scanned > c.num_inputs() || num_scanned + batched > c.num_inputs()) {
    c.Fail("num_scan_inputs of another number of inputs");
    return;
  }
  const size_t num_carried = c.num_inputs() - num_scanned - batched;
  std::vector<Tensor> carried;
  for (size_t i = 0; i < num_carried; ++i) carried.push_back(c.Input(batched + i));
  const size_t num_results = c.node.outputs.size() - std::min(c.node.outputs.size(), num_carried);
  const auto axes = c.List("scan_input_axes").value_or(Ints(num_scanned, 0));
  const auto backwards = c.List("scan_input_directions").value_or(Ints(num_scanned, 0));
  const auto result_axes = c.List("scan_output_axes").value_or(Ints(num_results, 0));
  const auto result_backwards = c.List("scan_output_directions").value_or(Ints(num_results, 0));
  if (axes.size() != num_scanned || backwards.size() != num_scanned ||
      result_axes.size() != num_results || result_backwards.size() != num_results) {
    c.Fail("axes or directions of another number of inputs or results");
    return;
  }
  std::vector<Value> sequences;
  Dim length = 0;
  Ints at;
  for (size_t i = 0; i < num_scanned; ++i) {
    Value x = c.In(batched + num_carried + i);
    if (!x) return;
    const auto axis = c.g.Axis(batched ? 1 : axes[i], c.g.Rank(x));
    if (!axis) return;
    at.push_back(*axis);
    length = c.g.Extent(x, *axis);
    sequences.push_back(x);
  }
  Dim batch = 1;
  if (batched) batch = c.g.Extent(sequences[0], 0);
  if (batch.is_symbolic() || (batched && c.Has(0))) {
    c.Fail("a scan of a symbolic number of sequences, or of sequences of several lengths");
    return;
  }
  if (batch.value() > kMaxUnrolledIterations) {
    c.Fail(absl::StrCat("a scan of more than ", kMaxUnrolledIterations, " sequences"));
    return;
  }
  if (batch.Is(0)) {
    c.Fail("a scan of nothing");
    return;
  }
  std::vector<std::vector<Tensor>> finals(num_carried), stacks(num_results);
  for (int64_t b = 0; b < batch.value(); ++b) {
    const auto of_batch = [&](Value v) {
      return batched ? c.g.Squeeze(c.g.Slice(v, 0, b, b + 1), 0) : v;
    };
    std::vector<Tensor> state = carried;
    for (Tensor& t : state) t.value = of_batch(t.value);
    if (length.is_symbolic() || length.value() > kMaxUnrolledSteps) {
      const auto part = [&](size_t i, const Dim& step) {
        const Dim k = backwards[i] ? c.g.SubDim(c.g.SubDim(length, 1), step) : step;
        const Value x = c.g.Slice(sequences[i], at[i], k, c.g.AddDim(k, 1));
        return Tensor{of_batch(c.g.Squeeze(x, at[i])), c.TypeOf(batched + num_carried + i),
                      nullptr};
      };
      std::vector<Tensor> rows;
      if (ScanLoop(c, length, num_scanned, part, result_backwards, state, rows)) {
        for (size_t k = 0; k < num_carried; ++k) finals[k].push_back(state[k]);
        for (size_t k = 0; k < num_results; ++k) {
          const auto axis = c.g.Axis(batched ? 0 : result_axes[k], c.g.Rank(rows[k].value));
          if (!axis) return;
          rows[k].value = MoveFirstAxis(c, rows[k].value, *axis);
          stacks[k].push_back(rows[k]);
        }
        continue;
      }
      if (length.is_symbolic() || length.value() > kMaxUnrolledIterations) {
        if (c.g.ok()) c.Fail("a scan of many steps that is no loop");
        return;
      }
      c.g.ClearError();
    }
    std::vector<std::vector<Tensor>> parts(num_results);
    for (int64_t t = 0; t < length.value(); ++t) {
      std::vector<Tensor> inputs = state;
      for (size_t i = 0; i < num_scanned; ++i) {
        const int64_t k = backwards[i] ? length.value() - 1 - t : t;
        Value part = c.g.Squeeze(c.g.Slice(sequences[i], at[i], k, k + 1), at[i]);
        inputs.push_back({of_batch(part), c.TypeOf(batched + num_carried + i), nullptr});
      }
      const std::vector<Tensor> results = c.RunSubgraph("body", inputs);
      if (!c.g.ok()) return;
      if (results.size() < num_carried + num_results) {
        c.Fail("a body of fewer results than the scan has");
        return;
      }
      for (size_t k = 0; k < num_carried; ++k) state[k] = results[k];
      for (size_t k = 0; k < num_results; ++k) parts[k].push_back(results[num_carried + k]);
    }
    for (size_t k = 0; k < num_carried; ++k) finals[k].push_back(state[k]);
    for (size_t k = 0; k < num_results; ++k) {
      const int64_t axis = batched ? 0 : result_axes[k];
      if (parts[k].empty()) {
        std::vector<Tensor> inputs = state;
        for (size_t i = 0; i < num_scanned; ++i) {
          Shape shape = c.g.ShapeOf(sequences[i]);
          shape.erase(shape.begin() + at[i]);
          if (batched) shape.erase(shape.begin());
          inputs.push_back({c.g.Full(shape, c.g.Like(sequences[i], 0)),
                            c.TypeOf(batched + num_carried + i), nullptr});
        }
        const auto none = StackNone(c, num_carried + k, inputs, axis);
        if (!none) return;
        stacks[k].push_back(*none);
        continue;
      }
      stacks[k].push_back(
          {StackAll(c, parts[k], axis, result_backwards[k] != 0), parts[k][0].type, nullptr});
    }
  }
  for (size_t k = 0; k < num_carried; ++k) {
    if (batched) {
      c.Return(StackAll(c, finals[k], 0, false), k, finals[k][0].type);
    } else {
      c.Return(finals[k][0], k);
    }
  }
  for (size_t k = 0; k < num_results; ++k) {
    if (batched) {
      c.Return(StackAll(c, stacks[k], 0, false), num_carried + k, stacks[k][0].type);
    } else {
      c.Return(stacks[k][0], num_carried + k);
    }
  }
}

constexpr Operator kControlOperators[] = {
    {"", "Loop", 1, Loop},
    {"", "Scan", 8, Scan},
};

}  // namespace

std::span<const Operator> ControlOperators() { return kControlOperators; }

}  // namespace tg::onnx
