// Translator: constants, variables, movement and reductions.
#include <algorithm>
#include <charconv>
#include <utility>

#include "frontend/tinygrad/buffers.h"
#include "frontend/tinygrad/directives.h"
#include "frontend/tinygrad/translator.h"
#include "ir/value.h"
#include "ir/verify/extent.h"

namespace tg::tinygrad {

using verify::kMaxExtent;

std::optional<Dim> Translator::DimOf(const Value& v) {
  if (v.kind == Kind::kInt && v.number >= -kMaxExtent && v.number <= kMaxExtent) {
    return Dim(v.number);
  }
  if (v.kind != Kind::kUOp) return std::nullopt;
  const UOp* u = ValueOf(v.node, kIndex);
  if (!u || !u->dtype.is_index() || (has_shapes_ && !shapes_.Of(u).empty())) return std::nullopt;
  return Dim(u);
}

const UOp* Translator::EmitDims(const Node& n, Op op, const UOp* x, const Shape& shape) {
  if (!x) return nullptr;
  std::vector<int64_t> words{static_cast<int64_t>(shape.size())}, known;
  Nodes srcs{x};
  for (const Dim& d : shape) {
    words.push_back(d.is_symbolic() ? kSymbolic : d.value());
    if (d.is_symbolic()) {
      srcs.push_back(d.symbol());
    } else {
      known.push_back(d.value());
    }
  }
  if (!Product(known)) return Fail(n, "a shape of too many elements, or of a negative extent");
  return Emit(n, op, x->dtype, {srcs.data(), srcs.size()}, ctx_.MakeAttr(op, words));
}

const UOp* Translator::EmitPairs(const Node& n, Op op, const UOp* x, const Ranges& pairs) {
  if (!x) return nullptr;
  std::vector<int64_t> words{static_cast<int64_t>(pairs.size())};
  Nodes srcs{x};
  for (const auto& [a, b] : pairs) {
    for (const Dim& d : {a, b}) {
      words.push_back(d.is_symbolic() ? kSymbolic : d.value());
      if (d.is_symbolic()) srcs.push_back(d.symbol());
    }
  }
  return Emit(n, op, x->dtype, {srcs.data(), srcs.size()}, ctx_.MakeAttr(op, words));
}

const UOp* Translator::EmitReshape(const Node& n, const UOp* x, const Shape& shape) {
  if (!x) return nullptr;
  if (ShapeOf(x) == shape) return x;
  // If a buffer is declared with this shape, a reshape to tinygrad's flat shape follows it.
  if (x->op == Op::kReshape && ShapeOf(x->src(0)) == shape) return x->src(0);
  return EmitDims(n, Op::kReshape, x, shape);
}

const UOp* Translator::EmitBroadcast(const Node& n, const UOp* x, const Shape& shape) {
  if (!x) return nullptr;
  Shape ones = ShapeOf(x);
  if (ones == shape || ones.size() > shape.size()) return x;
  ones.insert(ones.begin(), shape.size() - ones.size(), 1);
  x = EmitReshape(n, x, ones);
  return x && ones != shape ? EmitDims(n, Op::kExpand, x, shape) : x;
}

bool Translator::Extents(const Node& n, size_t i, Shape* shape) {
  const auto add = [&](std::optional<Dim> d) {
    if (!d) return false;
    shape->push_back(*d);
    return true;
  };
  const auto source = [&](const Node* s) {
    const UOp* u = ValueOf(s, kIndex);
    if (!u) return false;
    u = AsIndex(u);
    if (IsConst(u) && (u->word() > kMaxExtent || u->word() < -kMaxExtent)) return false;
    return u->dtype.is_index() && ShapeOf(u).empty() && add(Dim(u));
  };
  bool good = true;
  if (n.num_srcs > 1) {
    if (i >= n.num_srcs) return Refuse(n, "it has too few sources");
    const Node* extents = n.src(i);
    if (extents->op == "STACK") {
      for (size_t k = 0; k < extents->num_srcs; ++k) good = good && source(extents->src(k));
    } else {
      good = source(extents);
    }
  } else if (n.arg.kind == Kind::kTuple) {
    for (const Item& item : n.arg.list()) good = good && add(DimOf(item.value));
  } else {
    good = false;
  }
  return good || Refuse(n, "expected a tuple of extents");
}

bool Translator::Pairs(const Node& n, const UOp* x, Ranges* pairs) {
  const bool pad = n.op == "PAD";
  if (n.num_srcs == 1) {
    for (const Item& item : n.arg.list()) {
      const auto pair = item.value.list();
      const auto a = pair.size() == 2 ? DimOf(pair[0].value) : std::nullopt;
      const auto b = pair.size() == 2 ? DimOf(pair[1].value) : std::nullopt;
      if (!a || !b) return Refuse(n, "expected a tuple of pairs");
      pairs->emplace_back(*a, *b);
    }
    return true;
  }
  // In newer versions source 1 holds the offsets and source 2 the new extents.
  const Shape shape = ShapeOf(x);
  Shape offset, size;
  if (!Extents(n, 1, &offset) || !Extents(n, 2, &size)) return false;
  if (offset.size() != shape.size() || size.size() != shape.size()) {
    return Refuse(n, "the argument has another number of axes than the source");
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim end = AddDims(ctx_, offset[i], pad ? shape[i] : size[i]);
    pairs->emplace_back(offset[i], pad ? SubDims(ctx_, size[i], end) : end);
  }
  return true;
}

const UOp* Translator::Moved(const Node& n, const UOp* x) {
  if (!x) return nullptr;
  const Op op = demand_.OpOf(&n).op;
  if (op == Op::kReshape || op == Op::kExpand) {
    Shape shape;
    if (!Extents(n, 1, &shape)) return nullptr;
    if (op == Op::kReshape) return EmitReshape(n, x, shape);
    if (n.num_srcs > 1) {
      // In newer versions the argument holds the extents of the new leading axes.
      Shape ones(shape.size(), 1);
      const Shape inner = ShapeOf(x);
      ones.insert(ones.end(), inner.begin(), inner.end());
      shape.insert(shape.end(), inner.begin(), inner.end());
      x = EmitReshape(n, x, ones);
    }
    return x ? EmitDims(n, op, x, shape) : nullptr;
  }
  if (op == Op::kPad || op == Op::kShrink) {
    Ranges pairs;
    if (!Pairs(n, x, &pairs)) return nullptr;
    return op == Op::kShrink ? EmitShrink(n, x, pairs) : EmitPairs(n, op, x, pairs);
  }
  std::vector<int64_t> words{0};
  const auto items = n.arg.list();
  for (size_t i = 0; i < items.size(); ++i) {
    const Value& v = items[i].value;
    if (v.kind != Kind::kInt && v.kind != Kind::kBool) return Fail(n, "expected a tuple of axes");
    if (v.kind == Kind::kInt) words.push_back(v.number);
    // FLIP has a bool for each axis: whether it is reversed.
    if (v.kind == Kind::kBool && v.number) words.push_back(static_cast<int64_t>(i));
  }
  words[0] = static_cast<int64_t>(words.size()) - 1;
  return Emit(n, op, x->dtype, {x}, ctx_.MakeAttr(op, words));
}

const UOp* Translator::EmitView(const Node& n, const UOp* x, const Value& tracker) {
  if (!x) return nullptr;
  auto views = ReadViews(tracker, [this](const Value& v) { return DimOf(v); });
  if (!views) return Fail(n, "expected arg=ShapeTracker(views=(View(...), ...))");
  if (!x->dtype.is_memory() && ShapeOf(x).empty()) {
    // All unmasked elements are the single value.
    (*views)[0].strides.assign((*views)[0].strides.size(), 0);
    (*views)[0].offset = 0;
  }
  if (views->size() == 1 && (*views)[0].IsContiguous()) {
    const Shape& shape = (*views)[0].shape;
    if (IsStatic(shape) && IsStatic(ShapeOf(x)) && NumElements(shape) == NumElements(ShapeOf(x))) {
      return EmitReshape(n, x, shape);
    }
  }
  std::vector<int64_t> words;
  std::vector<const UOp*> srcs{x};
  EncodeViews(*views, &words, &srcs);
  return Emit(n, Op::kView, x->dtype, srcs, ctx_.MakeAttr(Op::kView, words));
}

std::optional<Op> ReduceOpOf(const Value& v) {
  constexpr std::string_view kPrefix = "Ops.";
  if (v.kind != Kind::kName || v.text().substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  const OpEntry* op = FindOp(v.text().substr(kPrefix.size()));
  if (!op || !IsReduceOp(op->op)) return std::nullopt;
  return op->op;
}

const UOp* Translator::ReduceAxis(const Node& n, DType t) {
  const auto items = n.arg.list();
  const auto op = items.size() >= 2 ? ReduceOpOf(items[0].value) : std::nullopt;
  if (!op || items[1].value.kind != Kind::kTuple) return Fail(n, "expected arg=(Ops.ADD, (axes))");
  const UOp* x = Source(n, 0, t);
  if (!x) return nullptr;
  std::vector<int64_t> words{static_cast<int64_t>(*op), 0};
  for (const Item& axis : items[1].value.list()) {
    if (axis.value.kind != Kind::kInt) return Fail(n, "expected a tuple of axes");
    words.push_back(axis.value.number);
  }
  std::sort(words.begin() + 2, words.end());
  words[1] = static_cast<int64_t>(words.size()) - 2;
  return Emit(n, Op::kReduceAxis, x->dtype, {x}, ctx_.MakeAttr(Op::kReduceAxis, words));
}

const UOp* Translator::EmitConst(const Node& n, DType t) {
  const Value* v = &n.arg;
  if (IsInvalid(&n)) return nullptr;
  if (v->is_call("ConstFloat") && v->count == 1) v = &v->list()[0].value;
  const Scalar s = t.scalar();
  int64_t bits = 0;
  if (t.is_void() || t.is_memory()) return Fail(n, "a constant of type " + t.ToString());
  if (v->kind == Kind::kFloat) {
    bits = BitsFromDouble(s, v->real);
  } else if (v->kind == Kind::kInt && IsFloat(s)) {
    double real = 0;
    std::from_chars(v->text().data(), v->text().data() + v->text().size(), real);
    bits = BitsFromDouble(s, real);
  } else if (v->kind == Kind::kInt || v->kind == Kind::kBool) {
    bits = s == Scalar::kBool ? v->number != 0 : BitsFromInt(s, v->number);
  } else {
    return Fail(n, "its value is no number: " + std::string(v->text().substr(0, 40)));
  }
  const UOp* c = b_.ConstBits(t, bits);
  if (body_.side.loc(c).line == 0) body_.side.SetLoc(c, n.loc);
  // The shape is in the source, a VIEW.
  if (!has_shapes_ || n.num_srcs == 0 || n.src(0)->op != "VIEW") return c;
  if (const auto shape = ContiguousShape(n.src(0)->arg); shape && shape->empty()) return c;
  const auto views = ReadViews(n.src(0)->arg, [this](const Value& d) { return DimOf(d); });
  if (!views) return Fail(n, "its view is no ShapeTracker");
  const Shape& shape = views->back().shape;
  const auto is_masked = [](const View& view) { return view.has_mask && !view.mask.empty(); };
  if (std::none_of(views->begin(), views->end(), is_masked)) {
    return EmitBroadcast(n, c, shape);
  }
  return EmitView(n, c, n.src(0)->arg);
}

const UOp* Translator::Variable(const Node& n, DType t) {
  const Value *name = FindItem(n.arg, "name"), *bounds = FindItem(n.arg, "vmin_vmax");
  if (!name || name->kind != Kind::kString || !bounds || bounds->list().size() != 2 ||
      bounds->list()[0].value.kind != Kind::kInt || bounds->list()[1].value.kind != Kind::kInt) {
    return Fail(n, "a variable without a name and bounds");
  }
  return EmitVar(n, Unquote(name->text()), bounds->list()[0].value.number,
                 bounds->list()[1].value.number, t);
}

const UOp* Translator::EmitVar(const Node& n, const std::string& name, int64_t min, int64_t max,
                               DType t) {
  const std::string symbol = SymbolFor(name);
  const VarDecl* known = module_.FindVar(symbol);
  if (!known) {
    module_.vars.push_back({symbol, min, max, n.loc});
  } else if (known->min != min || known->max != max) {
    return Fail(
        n, "variable '" + name + "' has other bounds on line " + std::to_string(known->loc.line));
  }
  const UOp* var = b_.Var(symbol);
  if (body_.side.loc(var).line == 0) body_.side.SetLoc(var, n.loc);
  return t.is_index() ? var : Emit(n, Op::kCast, t, {var});
}

}  // namespace tg::tinygrad
