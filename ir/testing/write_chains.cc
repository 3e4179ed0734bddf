#include "ir/testing/write_chains.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/check.h"
#include "ir/builder.h"
#include "ir/testing/array_model.h"
#include "ir/testing/random_values.h"
#include "ir/testing/rng.h"
#include "ir/testing/view_maker.h"

namespace tg::testing {
namespace {

class ChainMaker {
 public:
  explicit ChainMaker(uint64_t seed)
      : rng_(seed),
        module_(*(out_.program.module = std::make_unique<Module>())),
        b_([&]() -> Context& {
          module_.graphs.push_back(std::make_unique<Graph>());
          module_.graphs[0]->name = "main";
          return *module_.graphs[0]->body.context;
        }()) {
    module_.name = "w" + std::to_string(seed);
    scalar_ = rng_.Pick({Scalar::kI32, Scalar::kI32, Scalar::kU8, Scalar::kI64});
  }

  WriteChains Run() {
    for (int64_t n = rng_.In(1, 2); n > 0; --n) {
      states_.push_back({});
      const Handle entry = NewBuffer(Role::kState, RandomShape());
      states_.back() = {entry, {entry}};
      values_.push_back(entry);
    }
    values_.push_back(NewBuffer(Role::kInput, RandomShape()));
    for (int64_t n = rng_.In(2, 7); n > 0; --n) {
      Write(static_cast<size_t>(rng_.Below(static_cast<int64_t>(states_.size()))));
      if (rng_.Percent(40)) results_.push_back(Value(2));
    }
    if (results_.empty() || rng_.Percent(50)) results_.push_back(Value(2));
    Finish();
    return std::move(out_);
  }

 private:
  struct State {
    Handle entry;
    std::vector<Handle> latest;      // at least one view of the buffer after all previous writes
    std::vector<const UOp*> writes;  // the writes of the last step
  };

  int64_t Wrap(int64_t v) const {
    switch (scalar_) {
      case Scalar::kI32:
        return static_cast<int32_t>(v);
      case Scalar::kU8:
        return static_cast<uint8_t>(v);
      default:
        return v;
    }
  }

  Extents RandomShape() {
    Extents shape;
    int64_t left = 40;
    for (int64_t n = rng_.Pick({1, 1, 2, 2, 2, 3}); n > 0; --n) {
      shape.push_back(rng_.In(1, std::min<int64_t>(left, 6)));
      left /= shape.back();
    }
    return shape;
  }

  Handle NewBuffer(Role role, const Extents& shape) {
    BufferDecl decl;
    decl.name = (role == Role::kState ? "s" : "x") + std::to_string(module_.buffers.size());
    decl.dtype = DType(scalar_);
    decl.role = role;
    for (int64_t d : shape) decl.shape.push_back({d, ""});
    const interpret::HostBuffer contents = RandomBuffer(rng_, scalar_, shape, ValueStyle::kTame);
    out_.program.inputs[decl.name] = contents;
    Handle h{b_.Buffer(decl.name, decl.dtype), {shape, contents.data}, nullptr, 0};
    module_.buffers.push_back(std::move(decl));
    if (role != Role::kState) return h;
    h.array = Counted(shape);
    h.memory = std::make_shared<const std::vector<int64_t>>(contents.data);
    h.state = states_.size() - 1;
    return h;
  }

  // ---- Values

  Handle Constant(const Extents& shape) {
    const int64_t v = Wrap(rng_.In(-9, 9));
    const Handle one{b_.Reshape(b_.ConstInt(DType(scalar_), v), Shape(shape.size(), 1)),
                     {Extents(shape.size(), 1), {v}},
                     nullptr,
                     0};
    return views_.ToShape(one, shape);
  }

  Handle Alu(Op op, const Handle& x, const Handle& y) {
    Handle out = ViewMaker::Read(x);
    const Handle other = ViewMaker::Read(y);
    out.node = b_.Alu(op, {x.node, y.node});
    for (size_t i = 0; i < out.array.size(); ++i) {
      const auto a = static_cast<uint64_t>(out.array.items[i]);
      const auto c = static_cast<uint64_t>(other.array.items[i]);
      out.array.items[i] = Wrap(static_cast<int64_t>(op == Op::kAdd   ? a + c
                                                     : op == Op::kSub ? a - c
                                                     : op == Op::kMul ? a * c
                                                                      : a ^ c));
    }
    return out;
  }

  Handle Sum(const Handle& x) {
    const auto axis = static_cast<size_t>(rng_.Below(static_cast<int64_t>(x.shape().size())));
    const int64_t axes[] = {static_cast<int64_t>(axis)};
    Handle out = ViewMaker::Read(x);
    Extents shape = x.shape();
    shape[axis] = 1;
    const Array from = out.array;
    out.array = Filled(shape, [&](Coordinates at) {
      uint64_t sum = 0;
      for (at[axis] = 0; at[axis] < from.shape[axis]; ++at[axis]) {
        sum += static_cast<uint64_t>(ItemAt(from, at));
      }
      return Wrap(static_cast<int64_t>(sum));
    });
    out.node = b_.ReduceAxis(x.node, Op::kAdd, axes);
    return out;
  }

  Handle Operand() {
    const Handle& x = rng_.Percent(50) ? rng_.Pick(values_) : rng_.Pick(rng_.Pick(states_).latest);
    return views_.Place(ViewMaker::Read(x), 2);
  }

  Handle Value(int64_t depth) {
    Handle x = Operand();
    for (int64_t n = rng_.Below(depth + 1); n > 0; --n) {
      const int64_t roll = rng_.Below(100);
      const Op op = rng_.Pick({Op::kAdd, Op::kSub, Op::kMul, Op::kXor});
      if (roll < 60) {
        x = Alu(op, x, views_.ToShape(Operand(), x.shape()));
      } else if (roll < 80) {
        x = Alu(op, x, Constant(x.shape()));
      } else if (roll < 90) {
        x = Sum(x);
      } else {
        x.node = b_.context().Make(Op::kContiguous, x.node->dtype, {x.node});
      }
    }
    return x;
  }

  // ---- Writes

  // The value to write to `place`: its own contents, those combined with another value, or any
  // value.
  Handle ValueFor(const Handle& place) {
    const int64_t roll = rng_.Below(100);
    if (roll < 5) return ViewMaker::Read(place);
    if (roll < 15) return Constant(place.shape());
    if (roll < 30) return Alu(Op::kAdd, place, Constant(place.shape()));
    if (roll < 45) return Alu(Op::kAdd, place, views_.ToShape(Value(1), place.shape()));
    return views_.ToShape(Value(2), place.shape());
  }

  // The view `place` after the write, in a copy of the memory with only this write.
  Handle Assign(const Handle& place, const Handle& value) {
    auto memory = std::make_shared<std::vector<int64_t>>(*place.memory);
    const Handle v = ViewMaker::Read(value);
    TG_CHECK(v.shape() == place.shape());
    for (size_t i = 0; i < place.array.size(); ++i) {
      (*memory)[static_cast<size_t>(place.array.items[i])] = v.array.items[i];
    }
    Handle out = place;
    out.node = b_.context().Make(Op::kAssign, place.node->dtype, {place.node, value.node});
    out.memory = std::move(memory);
    return out;
  }

  void Write(size_t number) {
    State& state = states_[number];
    const Handle from = rng_.Pick(state.latest);
    const Handle place = views_.Place(from, 4);
    std::vector<Handle> done;
    const auto axis = static_cast<size_t>(rng_.Below(static_cast<int64_t>(place.shape().size())));
    const int64_t size = place.shape()[axis];
    if (size > 1 && rng_.Percent(20)) {
      // Two unordered writes to disjoint parts.
      auto low = views_.All(place), high = views_.All(place);
      low[axis].second = high[axis].first = rng_.In(1, size - 1);
      for (const auto& pairs : {low, high}) {
        const Handle part = views_.Shrink(place, pairs);
        done.push_back(Assign(part, ValueFor(part)));
      }
    } else {
      done.push_back(Assign(place, ValueFor(place)));
    }
    // The contents after both writes.
    auto memory = std::make_shared<std::vector<int64_t>>(*done[0].memory);
    std::vector<const UOp*> tokens = {nullptr};
    for (const Handle& d : done) {
      for (int64_t at : d.array.items) {
        (*memory)[static_cast<size_t>(at)] = (*d.memory)[static_cast<size_t>(at)];
      }
      tokens.push_back(d.node);
      values_.push_back(d);
    }
    std::vector<Handle> latest;
    if (done.size() == 1) latest.push_back(done[0]);
    // Values that may be read after these writes: the whole buffer, the views through which was
    // written, or any other view. Each is a view of an earlier version; `after` makes it one of the
    // contents after the writes.
    std::vector<Handle> views = {state.entry, from, place, rng_.Pick(values_)};
    for (Handle view : views) {
      if (!view.memory || view.state != number || !rng_.Percent(done.size() == 1 ? 30 : 60))
        continue;
      view = views_.Place(view, 2);
      tokens[0] = view.node;
      view.node = b_.context().Make(Op::kAfter, view.node->dtype, tokens);
      view.memory = memory;
      latest.push_back(view);
    }
    if (latest.empty()) {
      Handle whole = state.entry;
      tokens[0] = whole.node;
      whole.node = b_.context().Make(Op::kAfter, whole.node->dtype, tokens);
      whole.memory = memory;
      latest.push_back(whole);
    }
    state.latest = std::move(latest);
    state.writes.assign(tokens.begin() + 1, tokens.end());
    if (rng_.Percent(50)) values_.push_back(state.latest[0]);
  }

  void Finish() {
    std::vector<const UOp*> roots;
    std::vector<std::string> names;
    for (const State& state : states_) {
      if (state.writes.empty()) continue;
      for (const UOp* u : state.writes) {
        roots.push_back(u);
        names.emplace_back();
      }
      const std::string name(b_.context().String(static_cast<StringId>(state.entry.node->word())));
      interpret::HostBuffer& expected = out_.expected[name] = out_.program.inputs[name];
      expected.data = *state.latest[0].memory;
    }
    for (const Handle& r : results_) {
      // Two results with the same node would write one value to two buffers.
      if (std::find(roots.begin(), roots.end(), r.node) != roots.end()) continue;
      BufferDecl decl;
      decl.name = "y" + std::to_string(roots.size());
      decl.dtype = DType(scalar_);
      decl.role = Role::kOutput;
      for (int64_t d : r.shape()) decl.shape.push_back({d, ""});
      out_.expected[decl.name] = {decl.dtype, r.shape(), ViewMaker::Read(r).array.items,
                                  {},         {},        {}};
      roots.push_back(r.node);
      names.push_back(decl.name);
      module_.buffers.push_back(std::move(decl));
    }
    module_.graphs[0]->body.root =
        b_.Sink(roots, std::vector<std::string_view>(names.begin(), names.end()));
  }

  WriteChains out_;
  Rng rng_;
  Module& module_;
  Builder b_;
  ViewMaker views_{rng_, b_};
  Scalar scalar_ = Scalar::kI32;
  std::vector<State> states_;
  std::vector<Handle> values_;  // that later nodes may read
  std::vector<Handle> results_;
};

}  // namespace

WriteChains MakeWriteChains(uint64_t seed) { return ChainMaker(seed).Run(); }

}  // namespace tg::testing
