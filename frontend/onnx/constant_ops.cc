// Constants, shapes, ranges.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/operators.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

void Constant(NodeContext& c) {
  for (const Attribute& a : c.node.attributes) {
    if (a.name == "value" && a.tensor) {
      c.Return(c.Import(*a.tensor), 0);
      return;
    }
    if (a.name == "value_float") c.Return(c.g.Const(Scalar::kF32, a.f));
    if (a.name == "value_int") c.Return(c.g.ConstInt(Scalar::kI64, a.i));
    if (a.name == "value_ints") c.Return(c.g.Constant1D(Scalar::kI64, a.ints));
    if (a.name == "value_floats") {
      Ints bits;
      for (const float f : a.floats) bits.push_back(BitsFromDouble(Scalar::kF32, f));
      const auto n = static_cast<int64_t>(bits.size());
      c.Return(c.g.Constant(Scalar::kF32, {n}, std::move(bits)));
    }
  }
  if (!c.outputs.empty() && !c.outputs[0].exists())
    c.Fail("a constant that is no tensor of numbers");
}

void ConstantOfShape(NodeContext& c) {
  const auto shape = c.KnownDims(0);
  if (!shape) return;
  Tensor value{c.g.Const(Scalar::kF32, 0), ElementType::kFloat, nullptr};
  if (const Attribute* a = c.Find("value", AttributeType::kTensor); a && a->tensor) {
    value = c.Import(*a->tensor);
  }
  c.Return(c.g.Full(*shape, c.g.Reshape(value.value, {})), 0, value.type);
}

void ShapeOf(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const Shape shape = c.g.ShapeOf(x);
  const auto n = static_cast<int64_t>(shape.size());
  const auto place = [n](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  const int64_t start = place(c.Int("start", 0)), stop = place(c.Int("end", n));
  c.Return(c.g.DimVector(
      Scalar::kI64, start < stop ? Shape(shape.begin() + start, shape.begin() + stop) : Shape()));
}

void Size(NodeContext& c) {
  const Value x = c.In(0);
  if (x) c.Return(c.g.DimValue(Scalar::kI64, c.g.NumElements(c.g.ShapeOf(x))));
}

void Range(NodeContext& c) {
  const Value start = c.In(0), stop = c.In(1), step = c.In(2);
  if (!start || !stop || !step) return;
  for (const Value v : {start, stop, step}) {
    if (!c.g.NumElements(c.g.ShapeOf(v)).Is(1)) {
      c.Fail("a limit or a step that is no scalar, " + c.g.Describe(v));
      return;
    }
  }
  const Scalar type = start->dtype.scalar();
  const auto starts = c.g.KnownDims(start, true), steps = c.g.KnownDims(step, true);
  const bool counts_up = starts && steps && (*starts)[0].Is(0) && !(*steps)[0].is_symbolic() &&
                         (*steps)[0].value() > 0;
  const auto ends = counts_up ? c.KnownDims(1) : c.g.KnownDims(stop, true);
  Dim count = 0;
  if (ends && starts && steps && !(*steps)[0].is_symbolic() && (*steps)[0].value() != 0) {
    const int64_t by = (*steps)[0].value();
    if (by < -GraphBuilder::kMaxElements || by > GraphBuilder::kMaxElements) {
      c.Fail(absl::StrCat("a step of ", by));
      return;
    }
    const Dim length =
        by > 0 ? c.g.SubDim((*ends)[0], (*starts)[0]) : c.g.SubDim((*starts)[0], (*ends)[0]);
    count = c.g.FloorDivDim(c.g.AddDim(length, Dim(std::abs(by) - 1)), std::abs(by));
    if (!count.is_symbolic() && count.value() < 0) count = 0;
  } else if (const auto a = c.g.KnownNumbers(start, true), b = c.g.KnownNumbers(stop, true),
             d = c.g.KnownNumbers(step, true);
             a && b && d) {
    if ((*d)[0] == 0) {
      c.Fail("a step of 0");
      return;
    }
    const double exact = std::ceil(((*b)[0] - (*a)[0]) / (*d)[0]);
    if (!(exact <= static_cast<double>(GraphBuilder::kMaxElements))) {
      c.Fail(absl::StrCat("a range of ", exact, " elements"));
      return;
    }
    count = exact > 0 ? static_cast<int64_t>(exact) : 0;
  } else {
    // In f64, which holds all counts.
    const auto wide = [&](Value v) { return c.g.Cast(c.g.Reshape(v, {}), Scalar::kF64); };
    const Value exact = c.g.Ceil(c.g.Div(c.g.Sub(wide(stop), wide(start)), wide(step)));
    const Value data = c.g.Cast(c.g.Max(exact, c.g.Const(Scalar::kF64, 0)), Scalar::kI64);
    count = c.Measure(data, 0);
    if (!c.g.ok()) return;
  }
  const Value i = c.g.Arange(type, count);
  c.Return(c.g.Add(c.g.Mul(i, c.g.Reshape(step, {})), c.g.Reshape(start, {})));
}

void EyeLike(NodeContext& c) {
  const Value x = c.In(0);
  if (!x || c.g.Rank(x) != 2) {
    c.Fail("an input that is no matrix");
    return;
  }
  const auto type = static_cast<ElementType>(c.Int("dtype", static_cast<int64_t>(c.TypeOf(0))));
  const auto scalar = ScalarFor(type);
  if (!scalar) {
    c.Fail("the type " + std::string(TypeName(type)));
    return;
  }
  const Value i = c.g.Unsqueeze(c.g.Arange(Scalar::kI64, c.g.Extent(x, 0)), 1);
  const Value j = c.g.Arange(Scalar::kI64, c.g.Extent(x, 1));
  const Value on = c.g.Eq(c.g.Add(i, c.g.ConstInt(Scalar::kI64, c.Int("k", 0))), j);
  c.Return(c.g.Cast(on, *scalar), 0, type);
}

// Returns the indices of the nonzero elements, one column each.
void NonZero(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const Shape shape = c.g.ShapeOf(x);
  const auto bits = c.CountedBits(0);
  if (!bits) {
    const Value mask = x->dtype.is_bool() ? x : c.g.Ne(x, c.g.Like(x, 0));
    Value place = c.TruePlaces(c.g.Reshape(mask, {c.g.NumElements(shape)}), 1);
    std::vector<Value> rows(shape.size());
    for (size_t i = shape.size(); i-- > 0;) {
      const Value extent = c.g.DimValue(Scalar::kI64, shape[i]);
      rows[i] = i == 0 ? place : c.g.Binary(Op::kFloorMod, place, extent);
      place = c.g.Binary(Op::kFloorDiv, place, extent);
    }
    if (rows.empty()) {  // a scalar: no coordinates
      c.Return(c.g.Full({Dim(0), c.g.Extent(place, 0)}, c.g.ConstInt(Scalar::kI64, 0)));
      return;
    }
    c.Return(c.g.Stack(rows, 0));
    return;
  }
  const double zero = 0;
  Ints places;
  for (size_t i = 0; i < bits->size(); ++i) {
    if (DoubleFromBits(x->dtype.scalar(), (*bits)[i]) != zero)
      places.push_back(static_cast<int64_t>(i));
  }
  Ints coordinates;
  int64_t inner = NumElements(shape);
  // An empty tensor has extents to divide by that are 0.
  for (const Dim& d : places.empty() ? Shape() : shape) {
    inner /= d.value();
    for (const int64_t p : places) coordinates.push_back(p / inner % d.value());
  }
  c.Return(c.g.Constant(Scalar::kI64,
                        {static_cast<int64_t>(shape.size()), static_cast<int64_t>(places.size())},
                        std::move(coordinates)));
}

// Unique of an input that depends on data: equal elements are neighbours when they are sorted.
void UniqueOfData(NodeContext& c, Value x) {
  GraphBuilder& g = c.g;
  if (c.Find("axis") && g.Rank(x) != 1) {
    c.Fail("slices of an axis must be known before the run");
    return;
  }
  x = g.Reshape(x, {g.NumElements(g.ShapeOf(x))});
  if (!x) return;
  const Dim n = g.Extent(x, 0);
  const auto number = [&](Scalar type) { return g.Arange(type, n); };
  const auto scatter = [&](Value at, Value updates) {  // to all places
    return g.ScatterElements(g.Full({n}, g.Like(updates, 0)), at, updates, 0, Op::kNoop);
  };
  auto [sorted, at] = g.Sort(x, 0, /*descending=*/false);
  sorted = g.Stored(sorted);
  at = g.Stored(at);
  const Value before = g.Pad(g.Slice(sorted, 0, 0, g.SubDim(n, 1)), {{Dim(1), Dim(0)}});
  Value differs = g.Ne(sorted, before);
  if (x->dtype.is_float()) {
    differs = g.And(differs, g.Not(g.And(g.IsNan(sorted), g.IsNan(before))));
  }
  const Value is_first =
      g.Or(differs, g.Eq(number(Scalar::kI32), g.ConstInt(Scalar::kI32, 0)));  // of its like
  const auto groups = [&](Value begins) {  // the number of the group that each element is in
    return g.Sub(g.CumulativeSum(g.Cast(begins, Scalar::kI64), 0, false, false),
                 g.ConstInt(Scalar::kI64, 1));
  };
  Value firsts, inverse;
  if (c.Int("sorted", 1)) {
    firsts = g.Gather(at, c.TruePlaces(is_first, 0), 0);
    inverse = scatter(at, groups(is_first));
  } else {
    const Value begins = g.Stored(scatter(at, g.Cast(is_first, Scalar::kI32)));
    const Value is_begin = g.Ne(begins, g.Like(begins, 0));
    firsts = c.TruePlaces(is_begin, 0);
    const Value places = number(Scalar::kI64);
    const Value start =
        g.Cumulative(Op::kMax, g.Where(is_first, places, g.Like(places, 0)), 0, false, false);
    const Value first = g.Gather(at, g.Stored(start), 0);  // of the group, in the input
    inverse = scatter(at, g.Gather(g.Stored(groups(is_begin)), g.Stored(first), 0));
  }
  if (!g.ok()) return;
  firsts = g.Stored(firsts);
  inverse = g.Stored(inverse);
  const Value k = g.Unsqueeze(g.Arange(Scalar::kI64, g.Extent(firsts, 0)), 1);
  c.Return(g.Gather(x, firsts, 0), 0, c.TypeOf(0));
  c.Return(firsts, 1);
  c.Return(inverse, 2);
  if (c.Wants(3)) c.Return(g.Sum(g.Cast(g.Eq(inverse, k), Scalar::kI64), {-1}), 3);
}

// Returns the different elements, or slices of an axis, and where each occurs.
void Unique(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0);
  if (!x) return;
  const auto bits = c.CountedBits(0);
  if (!bits) {
    UniqueOfData(c, x);
    return;
  }
  Shape shape = g.ShapeOf(x);
  size_t axis = 0;
  if (c.Find("axis")) {
    const auto at = g.Axis(c.Int("axis", 0), shape.size());
    if (!at) return;
    axis = static_cast<size_t>(*at);
  } else {
    shape = {Dim(NumElements(shape))};
  }
  // Slice i has the elements outer * n * inner + i * inner + rest.
  const int64_t n = shape[axis].value();
  const int64_t inner =
      NumElements(Shape(shape.begin() + static_cast<ptrdiff_t>(axis) + 1, shape.end()));
  const int64_t outer =
      NumElements(Shape(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(axis)));
  const Scalar type = x->dtype.scalar();
  const auto element = [&](int64_t slice, int64_t k) {
    return (*bits)[static_cast<size_t>((k / inner * n + slice) * inner + k % inner)];
  };
  // The order of a slice's first element that differs; NaN is one value, after all others.
  const auto compare = [&](int64_t a, int64_t b) -> int {
    for (int64_t k = 0; k < outer * inner; ++k) {
      const int64_t p = element(a, k), q = element(b, k);
      int order = 0;
      if (IsFloat(type)) {
        const double u = DoubleFromBits(type, p), v = DoubleFromBits(type, q);
        order = u < v || (u == u && v != v) ? -1 : u > v || (u != u && v == v) ? 1 : 0;
      } else if (IsUnsigned(type)) {
        order = static_cast<uint64_t>(p) < static_cast<uint64_t>(q) ? -1 : p != q;
      } else {
        order = p < q ? -1 : p > q;
      }
      if (order != 0) return order;
    }
    return 0;
  };
  Ints order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  struct Group {
    int64_t first;
    Ints members;
  };
  std::vector<Group> groups;
  for (const int64_t i : order) {
    if (groups.empty() || compare(groups.back().first, i) != 0) groups.push_back({i, {}});
    groups.back().members.push_back(i);
  }
  if (!c.Int("sorted", 1)) {
    std::sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.first < b.first; });
  }
  const auto count = static_cast<int64_t>(groups.size());
  Ints firsts, counts, inverse(static_cast<size_t>(n));
  for (int64_t k = 0; k < count; ++k) {
    const Group& group = groups[static_cast<size_t>(k)];
    firsts.push_back(group.first);
    counts.push_back(static_cast<int64_t>(group.members.size()));
    for (const int64_t i : group.members) inverse[static_cast<size_t>(i)] = k;
  }
  Ints elements, extents;
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t first : firsts) {
      for (int64_t i = 0; i < inner; ++i) elements.push_back(element(first, o * inner + i));
    }
  }
  for (size_t i = 0; i < shape.size(); ++i) extents.push_back(i == axis ? count : shape[i].value());
  c.Return(g.Constant(type, extents, std::move(elements)), 0, c.TypeOf(0));
  c.Return(g.Constant1D(Scalar::kI64, firsts), 1);
  c.Return(g.Constant1D(Scalar::kI64, inverse), 2);
  c.Return(g.Constant1D(Scalar::kI64, counts), 3);
}

constexpr Operator kConstantOperators[] = {
    {"", "Constant", 1, Constant}, {"", "ConstantOfShape", 9, ConstantOfShape},
    {"", "EyeLike", 9, EyeLike},   {"", "NonZero", 9, NonZero},
    {"", "Range", 11, Range},      {"", "Shape", 1, ShapeOf},
    {"", "Size", 1, Size},         {"", "Unique", 11, Unique},
};

}  // namespace

std::span<const Operator> ConstantOperators() { return kConstantOperators; }

}  // namespace tg::onnx
