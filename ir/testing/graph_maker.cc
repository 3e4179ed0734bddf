#include "ir/testing/graph_maker.h"

#include <algorithm>

#include "base/check.h"
#include "ir/testing/contractions.h"
#include "ir/testing/scatter_devices.h"
#include "ir/testing/write_chains.h"
#include "ir/value.h"

namespace tg::testing {

std::vector<Scalar> ScalarsOf(std::string_view classes) {
  const auto has = [&](char c) { return classes.find(c) != std::string_view::npos; };
  std::vector<Scalar> out;
  for (int i = 0; i < kNumScalars; ++i) {
    const auto s = static_cast<Scalar>(i);
    if ((IsFloat(s) && has('f')) || (s == Scalar::kBool && has('b')) || (IsInt(s) && has('i')) ||
        (IsSigned(s) && has('s')) || (IsUnsigned(s) && has('u'))) {
      out.push_back(s);
    }
  }
  return out;
}

GraphMaker::GraphMaker(uint64_t seed, const RandomGraphOptions& options)
    : options_(options),
      rng_(seed),
      devices_seed_(seed ^ 0x646576696365),
      program_{std::make_unique<Module>(), {}, {}},
      module_(*program_.module),
      body_([&]() -> Body& {
        module_.graphs.push_back(std::make_unique<Graph>());
        module_.graphs[0]->name = "main";
        return module_.graphs[0]->body;
      }()),
      b_(*body_.context),
      shapes_(module_, *body_.context) {
  module_.name = "g" + std::to_string(seed);
  module_.flags = options.flags;
  inexact_ = rng_.Percent(options.inexact);
  if (inexact_) {
    for (ModuleFlag flag : {ModuleFlag::kNoNan, ModuleFlag::kZeroMul, ModuleFlag::kFastMath}) {
      if (rng_.Percent(60)) module_.flags.Add(flag);
    }
  }
  style_ = rng_.Percent(options.narrow ? 50 : options.special) ? ValueStyle::kSpecial
           : rng_.Percent(options.narrow ? 20 : 60)            ? ValueStyle::kTame
                                                               : ValueStyle::kWide;
  empty_ = rng_.Percent(options.empty);
  if (rng_.Percent(options.symbolic)) {
    var_min_ = rng_.In(1, 3);
    var_max_ = var_min_ + rng_.In(0, 5);
    var_value_ = rng_.In(var_min_, var_max_);
    module_.vars.push_back({"n", var_min_, var_max_, {}});
    program_.vars["n"] = var_value_;
    var_ = b_.Var("n");
    index_pool_.push_back({var_, static_cast<double>(var_max_)});
    index_vars_.push_back(var_);
  }
  // Variables that are not used as extents.
  templates_ = !options.templates.empty() && rng_.Percent(options.template_share);
  if (rng_.Percent(templates_ ? 80 : 30)) {
    constexpr int64_t kBounds[][2] = {{0, 3}, {0, 7},  {1, 4},    {-3, 9},    {-8, -1},
                                      {5, 9}, {0, 15}, {-20, 20}, {-100, 60}, {0, 99}};
    for (int64_t i = 0, n = rng_.In(1, 4); i < n; ++i) {
      const auto [least, greatest] = kBounds[rng_.Below(10)];
      const std::string name = "k" + std::to_string(i);
      const int64_t value = rng_.In(least, greatest);
      module_.vars.push_back({name, least, greatest, {}});
      program_.vars[name] = value;
      const UOp* node = b_.Var(name);
      if (rng_.Percent(25)) node = b_.context().Make(Op::kBind, kIndex, {node, b_.Index(value)});
      index_pool_.push_back({node, 100});
      index_vars_.push_back(node);
    }
  }
  index_pool_.push_back({b_.Index(rng_.In(-4, 12)), 12});
}

int64_t GraphMaker::Evaluate(const Dim& d) const {
  if (!d.is_symbolic()) return d.value();
  // A symbolic extent is the variable, or a sum or product of extents.
  const UOp* u = d.symbol();
  if (u == var_) return var_value_;
  const int64_t a = Evaluate(Dim(u->src(0))), b = Evaluate(Dim(u->src(1)));
  switch (u->op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    default:
      TG_UNREACHABLE();
  }
}

Value GraphMaker::Wrap(const UOp* u, bool rough, bool computed) {
  Value v{u, shapes_.Of(u), {}, rough, computed};
  for (const Dim& d : v.shape) v.extents.push_back(Evaluate(d));
  return v;
}

Scalar GraphMaker::PickScalar(const std::vector<Scalar>& scalars) {
  if (options_.narrow && rng_.Percent(85)) {
    std::vector<Scalar> narrow;
    for (const Scalar s : scalars) {
      if (IsInt(s) && BitWidth(s) < 32) narrow.push_back(s);
    }
    if (!narrow.empty()) return rng_.Pick(narrow);
  }
  return rng_.Pick(scalars);
}

void GraphMaker::Push(Value v) { pool_.push_back(std::move(v)); }

Value GraphMaker::Recent() {
  const auto n = static_cast<int64_t>(pool_.size());
  // Most sources are recent nodes, so that graphs grow deep.
  const int64_t back = rng_.Percent(65) ? rng_.Below(std::min<int64_t>(n, 5)) : rng_.Below(n);
  return pool_[static_cast<size_t>(n - 1 - back)];
}

std::optional<Value> GraphMaker::Find(Scalar s, const Shape* shape, bool exact) {
  const size_t n = pool_.size(), start = static_cast<size_t>(rng_.Below(static_cast<int64_t>(n)));
  for (size_t i = 0; i < n; ++i) {
    const Value& v = pool_[(start + i) % n];
    if (v.scalar() == s && (!shape || v.shape == *shape) && !(exact && v.rough)) return v;
  }
  return std::nullopt;
}

bool GraphMaker::Declarable(const Shape& shape) const {
  return std::all_of(shape.begin(), shape.end(),
                     [&](const Dim& d) { return !d.is_symbolic() || d.symbol() == var_; });
}

Shape GraphMaker::RandomShape() {
  Shape shape;
  const int64_t rank = rng_.Pick({0, 1, 1, 2, 2, 2, 3, 3, 4});
  int64_t elements_left = options_.max_elements;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t most = std::max<int64_t>(1, std::min<int64_t>(elements_left, 12));
    int64_t extent = rng_.Percent(12) ? 1 : rng_.In(1, std::min<int64_t>(most, 1 + rng_.Below(12)));
    if (empty_ && rng_.Percent(15)) extent = 0;
    if (var_ && rng_.Percent(35) && var_max_ <= elements_left) {
      shape.push_back(var_);
      elements_left /= var_max_;
      continue;
    }
    shape.push_back(extent);
    elements_left /= std::max<int64_t>(extent, 1);
  }
  return shape;
}

Value GraphMaker::NewBuffer(Scalar s, const Shape& shape) {
  BufferDecl decl;
  decl.name = "x" + std::to_string(num_buffers_++);
  decl.dtype = DType(s);
  std::vector<int64_t> extents;
  bool fixed = true;
  for (const Dim& d : shape) {
    decl.shape.push_back(d.is_symbolic() ? DeclDim{0, "n"} : DeclDim{d.value(), ""});
    extents.push_back(Evaluate(d));
    fixed &= !d.is_symbolic();
  }
  decl.role = fixed && rng_.Percent(25) ? Role::kParam : Role::kInput;
  interpret::HostBuffer contents = RandomBuffer(rng_, s, extents, style_);
  if (decl.role == Role::kParam && rng_.Percent(50)) {
    decl.values = contents.data;
  } else {
    program_.inputs[decl.name] = std::move(contents);
  }
  const std::string name = decl.name;
  module_.buffers.push_back(std::move(decl));
  return Wrap(b_.Buffer(name, DType(s)));
}

Value GraphMaker::Constant(Scalar s, bool nonzero) {
  int64_t bits = 0;
  do {
    bits = RandomBits(rng_, s, rng_.Percent(30) ? style_ : ValueStyle::kTame);
  } while (nonzero && bits == 0);
  return Wrap(b_.ConstBits(DType(s), bits));
}

Value GraphMaker::Places(Scalar s, const Shape& shape) {
  if (shape.empty()) return Constant(s);
  const size_t axis = static_cast<size_t>(rng_.Below(static_cast<int64_t>(shape.size())));
  if (shape[axis].is_symbolic()) return Constant(s);
  Shape row(shape.size(), 1);
  row[axis] = shape[axis];
  const UOp* places = b_.Cast(b_.Iota(shape[axis].value()), DType(s));
  return Wrap(b_.Expand(b_.Reshape(places, row), shape));
}

Value GraphMaker::Source(Scalar s) {
  if (rng_.Percent(60)) {
    if (auto v = Find(s, nullptr, false)) return *v;
  }
  if (rng_.Percent(12)) return NewBuffer(s, RandomShape());
  return ToScalar(Recent(), s);
}

Value GraphMaker::WithoutNan(Value v) {
  const UOp* is_nan = b_.Alu(Op::kCmpNe, {v.node, v.node});
  return Wrap(b_.Where(is_nan, b_.Const(v.node->dtype, 1), v.node), v.rough, false);
}

Value GraphMaker::ToScalar(Value v, Scalar s) {
  if (v.scalar() == s) return v;
  const bool narrows = IsFloat(v.scalar()) && !IsFloat(s);
  if (narrows) v = Exact(v);
  const bool same_size = BitWidth(s) == BitWidth(v.scalar());
  const bool no_bool = s != Scalar::kBool && v.scalar() != Scalar::kBool;
  if (same_size && no_bool && rng_.Percent(20)) {
    v = Exact(v);
    if (IsFloat(v.scalar()) && v.computed) v = WithoutNan(v);
    return Wrap(b_.Bitcast(v.node, DType(s)), v.rough, IsFloat(s));
  }
  return Wrap(b_.Cast(v.node, DType(s)), v.rough, true);
}

Value GraphMaker::Broadcast(Value v, const Shape& shape) {
  if (shape.empty()) return v;
  const UOp* ones = b_.Reshape(v.node, Shape(shape.size(), 1));
  return Wrap(b_.Expand(ones, shape), v.rough, v.computed);
}

Value GraphMaker::ToShape(Value v, const Shape& shape) {
  if (v.shape == shape) return v;
  if (v.shape.empty()) return Broadcast(v, shape);
  if (v.shape.size() == shape.size()) {
    // May permute the axes, or broadcast axes of size 1.
    bool expands = true;
    for (size_t i = 0; i < shape.size(); ++i) expands &= v.shape[i] == shape[i] || v.shape[i].Is(1);
    if (expands) return Moved(v, b_.Expand(v.node, shape));
    Shape reversed(v.shape.rbegin(), v.shape.rend());
    if (reversed == shape) {
      std::vector<int64_t> order;
      for (size_t i = shape.size(); i-- > 0;) order.push_back(static_cast<int64_t>(i));
      return Moved(v, b_.Permute(v.node, order));
    }
  }
  if (!IsStatic(v.shape) || !IsStatic(shape)) {
    if (Declarable(shape)) return NewBuffer(v.scalar(), shape);
    return Broadcast(Constant(v.scalar()), shape);
  }
  // Flattens the value, then shrinks or pads it to the number of elements.
  const int64_t have = v.size(), want = NumElements(shape);
  if (v.shape.size() != 1) v = Moved(v, b_.Reshape(v.node, {have}));
  if (have > want) {
    const int64_t from = rng_.Below(have - want + 1);
    v = Moved(v, b_.Shrink(v.node, {{from, from + want}}));
  } else if (have < want) {
    const int64_t before = rng_.Below(want - have + 1);
    v = Moved(v, b_.Pad(v.node, {{before, want - have - before}}));
  }
  return v.shape == shape ? v : Moved(v, b_.Reshape(v.node, shape));
}

Value GraphMaker::Exact(Value v) {
  if (!v.rough || rng_.Percent(4)) return v;
  if (auto other = Find(v.scalar(), nullptr, true); other && rng_.Percent(70)) {
    return ToShape(*other, v.shape);
  }
  if (Declarable(v.shape)) return NewBuffer(v.scalar(), v.shape);
  return Broadcast(Constant(v.scalar()), v.shape);
}

Value GraphMaker::Operand(Scalar s, const Value& like, bool exact) {
  const int64_t roll = rng_.Below(100);
  if (roll < 14) return Constant(s);
  if (roll < 17) return Broadcast(Constant(s), like.shape);
  if (roll < 19) return Places(s, like.shape);
  if (roll < 55) {
    if (auto v = Find(s, &like.shape, exact)) return *v;
  }
  if (roll < 62 && Declarable(like.shape)) return NewBuffer(s, like.shape);
  Value v = ToScalar(Recent(), s);
  if (exact) v = Exact(v);
  return v.shape.empty() ? v : ToShape(v, like.shape);
}

void GraphMaker::Step() {
  const int64_t roll = rng_.Below(100);
  if (roll < 42) {
    Push(Elementwise());
  } else if (roll < 46) {
    Push(Narrow());
  } else if (roll < 72) {
    Value v = Recent();
    for (int64_t n = rng_.In(1, 4); n > 0; --n) v = Movement(v);
    Push(v);
  } else if (roll < 82) {
    Push(Reduce(Recent()));
  } else if (roll < 85) {
    Push(Wrapper());
  } else if (roll < 88) {
    Push(IndexScalar());
  } else if (roll < 91) {
    Push(Cast());
  } else if (roll < 94) {
    Push(BufferView());
  } else if (roll < 97 && !states_.empty()) {
    WriteState();
  } else {
    Push(NewBuffer(PickScalar(ScalarsOf("bif")), RandomShape()));
  }
}

RandomProgram GraphMaker::Make() {
  for (int64_t n = rng_.In(1, 3); n > 0; --n) {
    const int floats = options_.narrow ? 10 : 60;
    Push(NewBuffer(PickScalar(ScalarsOf(rng_.Percent(floats) ? "f" : "bi")), RandomShape()));
  }
  if (rng_.Percent(options_.state)) StartState();
  const int density = rng_.Pick({10, 15, 30, 50});
  const int64_t nodes = rng_.In(options_.min_nodes, options_.max_nodes);
  while (b_.context().num_nodes() < nodes) {
    if (templates_ && rng_.Percent(density)) {
      const RootTemplate* t = PickTemplate();
      if (auto v = t ? FromTemplate(*t) : std::nullopt) Push(*v);
    } else {
      Step();
    }
  }
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].assigns.empty()) WriteState();
  }
  Finish();
  // A separate generator, so that device placement does not change other graphs.
  Rng devices(devices_seed_);
  if (devices.Percent(options_.devices)) ScatterDevices(module_, *module_.graphs[0], devices);
  return std::move(program_);
}

// Chooses the results to store: unused values, and a few others.
void GraphMaker::Finish() {
  NodeSet used;
  for (uint32_t i = 0; i < b_.context().num_nodes(); ++i) {
    for (const UOp* s : b_.context().node(i)->srcs()) used.Insert(s);
  }
  std::vector<Value> results;
  const auto wanted = static_cast<size_t>(rng_.In(1, 6));
  for (size_t i = pool_.size(); i-- > 0 && results.size() < wanted;) {
    if (!used.Contains(pool_[i].node) || rng_.Percent(4)) results.push_back(pool_[i]);
  }
  std::vector<const UOp*> roots;
  std::vector<std::string> names;
  NodeSet stored;
  for (Value v : results) {
    if (!Declarable(v.shape)) {
      std::vector<int64_t> axes;
      for (size_t i = 0; i < v.shape.size(); ++i) {
        if (v.shape[i].is_symbolic() && v.shape[i].symbol() != var_) {
          axes.push_back(static_cast<int64_t>(i));
        }
      }
      v = Wrap(b_.ReduceAxis(v.node, v.scalar() == Scalar::kBool ? Op::kOr : Op::kAdd, axes));
    }
    if (!stored.Insert(v.node)) continue;
    BufferDecl decl;
    decl.name = "y" + std::to_string(names.size());
    decl.dtype = v.node->dtype;
    decl.role = Role::kOutput;
    for (const Dim& d : v.shape) {
      decl.shape.push_back(d.is_symbolic() ? DeclDim{0, "n"} : DeclDim{d.value(), ""});
    }
    names.push_back(decl.name);
    module_.buffers.push_back(std::move(decl));
    roots.push_back(v.node);
  }
  std::vector<std::string_view> targets(names.begin(), names.end());
  for (const UOp* u : effects_) {
    roots.push_back(u);
    targets.push_back("");
  }
  // Shuffles the roots: the result must not depend on the order of execution.
  for (size_t i = roots.size(); i > 1; --i) {
    const auto k = static_cast<size_t>(rng_.Below(static_cast<int64_t>(i)));
    std::swap(roots[i - 1], roots[k]);
    std::swap(targets[i - 1], targets[k]);
  }
  body_.root = b_.Sink(roots, targets);
  NameNodes();
}

void GraphMaker::NameNodes() {
  for (const UOp* u : PostOrder(body_.root)) {
    if (u->dtype.is_void() || !rng_.Percent(15)) continue;
    body_.side.SetName(u, b_.context().Intern("v" + std::to_string(rng_.Below(40))));
  }
}

RandomProgram MakeRandomProgram(uint64_t seed, const RandomGraphOptions& options) {
  if (!options.writes && !options.contractions) return GraphMaker(seed, options).Make();
  RandomProgram program = options.writes ? MakeWriteChains(seed).program : MakeContractions(seed);
  program.module->flags = options.flags;
  return program;
}

}  // namespace tg::testing
