// Buffers that random graphs write in place.
#include <algorithm>

#include "base/arithmetic.h"
#include "ir/testing/graph_maker.h"

namespace tg::testing {

void GraphMaker::StartState() {
  for (int64_t n = rng_.In(1, 2); n > 0; --n) {
    const Scalar s = PickScalar(ScalarsOf("bif"));
    Shape shape;
    do {
      shape = RandomShape();
    } while (!IsStatic(shape));
    BufferDecl decl;
    decl.name = "s" + std::to_string(states_.size());
    decl.dtype = DType(s);
    decl.role = Role::kState;
    std::vector<int64_t> extents;
    for (const Dim& d : shape) {
      decl.shape.push_back({d.value(), ""});
      extents.push_back(d.value());
    }
    program_.inputs[decl.name] = RandomBuffer(rng_, s, extents, style_);
    module_.buffers.push_back(decl);
    const Value entry = Wrap(b_.Buffer(decl.name, DType(s)));
    states_.push_back({decl.name, entry, entry, {}});
    Push(entry);
  }
}

std::optional<Value> GraphMaker::Stepped(const Value& x) {
  if (!IsStatic(x.shape) || x.shape.empty()) return std::nullopt;
  const auto axis = static_cast<size_t>(rng_.Below(static_cast<int64_t>(x.shape.size())));
  const int64_t size = x.extents[axis], step = 2 + rng_.Below(2);
  const int64_t steps = CeilDiv(size, step);
  // The part kept of each step must exist in the last step too.
  const int64_t keep = rng_.Below(size - (steps - 1) * step);
  std::vector<std::pair<Dim, Dim>> pads(x.shape.size(), {0, 0}), ranges;
  pads[axis].second = steps * step - size;
  Shape cut, whole = x.shape;
  whole[axis] = steps;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    cut.push_back(whole[i]);
    ranges.push_back({0, whole[i]});
    if (i != axis) continue;
    cut.push_back(step);
    ranges.push_back({keep, keep + 1});
  }
  return Moved(x, b_.Reshape(b_.Shrink(b_.Reshape(b_.Pad(x.node, pads), cut), ranges), whole));
}

Value GraphMaker::Place(Value x) {
  for (int64_t n = rng_.Below(4); n > 0; --n) {
    std::optional<Value> v;
    switch (rng_.Below(5)) {
      case 0:
        v = IsStatic(x.shape) ? Reshape(x) : std::nullopt;
        break;
      case 1:
        v = Permute(x);
        break;
      case 2:
        v = Flip(x);
        break;
      case 3:
        v = Stepped(x);
        break;
      default:
        v = Shrink(x);
    }
    if (v) x = *v;
  }
  return x;
}

void GraphMaker::WriteState() {
  State& state = states_[static_cast<size_t>(rng_.Below(static_cast<int64_t>(states_.size())))];
  if (state.assigns.size() >= 4) return;
  Context& ctx = b_.context();
  const Scalar s = state.entry.scalar();
  const auto assign = [&](const Value& target, const Value& value) {
    Value v = value;
    if (v.shape != target.shape) v = ToShape(v, target.shape);
    const UOp* a = ctx.Make(Op::kAssign, target.node->dtype, {target.node, v.node});
    state.assigns.push_back(a);
    effects_.push_back(a);
    return Wrap(a, v.rough, v.computed);
  };
  const Value before = state.now;
  std::vector<const UOp*> tokens = {state.now.node};
  const Value target = Place(state.now);
  bool rough = state.now.rough;
  const auto value_for = [&](const Value& place) {
    // The new contents derive from the old contents, moved or not, or from any value.
    const int64_t roll = rng_.Below(100);
    if (roll < 15)
      return ToShape(Movement(rng_.Percent(50) ? state.now : state.entry), place.shape);
    if (roll < 30) {
      const Op op = s == Scalar::kBool ? Op::kXor : Op::kAdd;
      const Value other = Operand(s, place, true);
      return Wrap(b_.Alu(op, {place.node, other.node}), place.rough || other.rough, true);
    }
    return Operand(s, place, false);
  };
  const auto halves = static_cast<int64_t>(target.shape.size());
  if (halves > 0 && target.size() > 1 && IsStatic(target.shape) && rng_.Percent(25)) {
    // Two unordered writes to disjoint parts.
    const auto axis = static_cast<size_t>(rng_.Below(halves));
    const int64_t size = target.extents[axis], cut = rng_.Below(size + 1);
    for (int half = 0; half < 2; ++half) {
      std::vector<std::pair<Dim, Dim>> pairs;
      for (const Dim& d : target.shape) pairs.emplace_back(0, d);
      pairs[axis] = half == 0 ? std::pair<Dim, Dim>(0, cut) : std::pair<Dim, Dim>(cut, size);
      const Value part = Moved(target, b_.Shrink(target.node, pairs));
      const Value done = assign(part, value_for(part));
      rough |= done.rough;
      tokens.push_back(done.node);
    }
  } else {
    const Value done = assign(target, value_for(target));
    rough |= done.rough;
    tokens.push_back(done.node);
    if (rng_.Percent(50)) Push(done);
  }
  if (tokens.size() == 2 && target.node == state.now.node && rng_.Percent(50)) {
    // The assign represents the whole buffer.
    state.now = Wrap(tokens[1], rough, true);
  } else {
    tokens[0] = state.entry.node;
    if (state.now.node != state.entry.node) tokens.push_back(state.now.node);
    state.now = Wrap(ctx.Make(Op::kAfter, DType(s), tokens), rough, true);
  }
  // Later nodes may read both the old and the new contents.
  if (rng_.Percent(40)) Push(before);
  if (rng_.Percent(70)) Push(state.now);
}

Value GraphMaker::BufferView() {
  std::vector<Value> buffers;
  for (const Value& v : pool_) {
    if (v.node->op == Op::kBuffer && IsStatic(v.shape) && v.size() > 0) buffers.push_back(v);
  }
  if (buffers.empty()) return Movement(Recent());
  const Value x = rng_.Pick(buffers);
  const int64_t size = rng_.In(1, x.size()), offset = rng_.Below(x.size() - size + 1);
  Context& ctx = b_.context();
  return Moved(x, ctx.Make(Op::kBufferView, x.node->dtype, {x.node},
                           ctx.MakeAttr(Op::kBufferView, {offset, size})));
}

}  // namespace tg::testing
