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
  const auto ends = c.g.KnownDims(stop, true), starts = c.g.KnownDims(start, true),
             steps = c.g.KnownDims(step, true);
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
  } else {
    const auto a = c.KnownNumbers(0), b = c.KnownNumbers(1), d = c.KnownNumbers(2);
    if (!a || !b || !d) return;
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

// The input must be known at import: the number of nonzero elements is an extent. Returns their
// indices, one column each.
void NonZero(NodeContext& c) {
  const Value x = c.In(0);
  const auto bits = c.KnownBits(0);
  if (!x || !bits) return;
  const Shape shape = c.g.ShapeOf(x);
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

// The input must be known at import. Returns the different elements, or slices of an axis, and
// where each occurs.
void Unique(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0);
  const auto bits = c.KnownBits(0);
  if (!x || !bits) return;
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
