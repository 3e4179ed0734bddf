// Reductions, softmax, cumulative operators, sorting.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

// The axes of a reduction: an attribute before opset `by_input`, an input from then on. If none are
// given, returns all axes, or none if the node says so. Returns nullopt after an error.
std::optional<Ints> AxesOf(NodeContext& c, Value x, int64_t by_input) {
  std::optional<Ints> axes;
  if (c.opset >= by_input && c.Has(1)) {
    axes = c.KnownInts(1);
    if (!axes) return std::nullopt;
  } else if (c.opset < by_input) {
    axes = c.List("axes");
  }
  if (!axes || axes->empty()) {
    axes.emplace();
    if (c.Int("noop_with_empty_axes", 0) == 0) {
      axes->resize(c.g.Rank(x));
      std::iota(axes->begin(), axes->end(), 0);
    }
  }
  return axes;
}

constexpr int64_t kAxesByInput = 18;

template <typename F>
void Reduction(NodeContext& c, F&& f, int64_t by_input = kAxesByInput) {
  const Value x = c.In(0);
  if (!x) return;
  const auto axes = AxesOf(c, x, by_input);
  if (!axes) return;
  c.Return(f(x, *axes, c.Int("keepdims", 1) != 0));
}

void ReduceSum(NodeContext& c) {
  Reduction(
      c, [&](Value x, const Ints& axes, bool keep) { return c.g.Sum(x, axes, keep); }, 13);
}
void ReduceMean(NodeContext& c) {
  Reduction(c, [&](Value x, const Ints& axes, bool keep) { return c.g.Mean(x, axes, keep); });
}
void ReduceProd(NodeContext& c) {
  Reduction(
      c, [&](Value x, const Ints& axes, bool keep) { return c.g.Reduce(Op::kMul, x, axes, keep); });
}
void ReduceMax(NodeContext& c) {
  Reduction(
      c, [&](Value x, const Ints& axes, bool keep) { return c.g.Reduce(Op::kMax, x, axes, keep); });
}
void ReduceMin(NodeContext& c) {
  Reduction(
      c, [&](Value x, const Ints& axes, bool keep) { return c.g.Reduce(Op::kMin, x, axes, keep); });
}
void ReduceL1(NodeContext& c) {
  Reduction(c,
            [&](Value x, const Ints& axes, bool keep) { return c.g.Sum(c.g.Abs(x), axes, keep); });
}
void ReduceL2(NodeContext& c) {
  Reduction(c, [&](Value x, const Ints& axes, bool keep) -> Value {
    const Scalar type = x->dtype.scalar();
    const Value w = IsFloat(type) && BitWidth(type) >= 32 ? x : c.g.Cast(x, Scalar::kF32);
    return c.g.Cast(c.g.Sqrt(c.g.Sum(c.g.Mul(w, w), axes, keep)), type);
  });
}
// f(x) of floats narrower than f32 in f32.
template <typename F>
Value InWideFloat(NodeContext& c, Value x, F&& f) {
  const Scalar type = x->dtype.scalar();
  const bool is_narrow = IsFloat(type) && BitWidth(type) < 32;
  return c.g.Cast(f(is_narrow ? c.g.Cast(x, Scalar::kF32) : x), type);
}
void ReduceSumSquare(NodeContext& c) {
  Reduction(c, [&](Value x, const Ints& axes, bool keep) {
    return InWideFloat(c, x, [&](Value w) { return c.g.Sum(c.g.Mul(w, w), axes, keep); });
  });
}
void ReduceLogSum(NodeContext& c) {
  Reduction(c, [&](Value x, const Ints& axes, bool keep) {
    return InWideFloat(c, x, [&](Value w) { return c.g.Log(c.g.Sum(w, axes, keep)); });
  });
}
void ReduceLogSumExp(NodeContext& c) {
  Reduction(c, [&](Value x, const Ints& axes, bool keep) { return c.g.LogSumExp(x, axes, keep); });
}

template <bool is_max>
void ArgMost(NodeContext& c) {
  Value x = c.In(0);
  if (!x) return;
  // The least is the greatest of what is turned around: ~x of integers, -x of floats.
  if (!is_max) x = x->dtype.is_float() ? c.g.Neg(x) : c.g.Not(x);
  c.Return(c.g.ArgMax(x, c.Int("axis", 0), c.Int("keepdims", 1) != 0,
                      c.Int("select_last_index", 0) != 0));
}

template <Value (GraphBuilder::*f)(Value, int64_t)>
void SoftmaxLike(NodeContext& c) {
  Value x = c.In(0);
  if (!x) return;
  if (c.opset >= 13) {
    c.Return((c.g.*f)(x, c.Int("axis", -1)));
    return;
  }
  // Before opset 13: over all axes from this one on together.
  const auto axis = c.g.Axis(c.Int("axis", 1), c.g.Rank(x));
  if (!axis) return;
  const Shape shape = c.g.ShapeOf(x);
  c.Return(
      c.g.Reshape((c.g.*f)(c.g.Flatten(x, *axis, static_cast<int64_t>(shape.size())), -1), shape));
}

// One where the first greatest element is, else zero.
void Hardmax(NodeContext& c) {
  Value x = c.In(0);
  if (!x) return;
  const Shape shape = c.g.ShapeOf(x);
  auto axis = c.g.Axis(c.Int("axis", c.opset >= 13 ? -1 : 1), c.g.Rank(x));
  if (!axis) return;
  if (c.opset < 13) x = c.g.Flatten(x, *axis, static_cast<int64_t>(shape.size()));
  const Value first = c.g.ArgMax(x, *axis, false);
  const Value hot = c.g.OneHot(first, c.g.Extent(x, *axis), *axis, c.g.Like(x, 0), c.g.Like(x, 1));
  c.Return(c.g.Reshape(hot, shape));
}

void CumSum(NodeContext& c) {
  const auto axis = c.KnownInt(1);
  if (!axis) return;
  c.Return(c.g.CumulativeSum(c.In(0), *axis, c.Int("exclusive", 0) != 0, c.Int("reverse", 0) != 0));
}
void CumProd(NodeContext& c) {
  const auto axis = c.KnownInt(1);
  if (!axis) return;
  c.Return(c.g.Cumulative(Op::kMul, c.In(0), *axis, c.Int("exclusive", 0) != 0,
                          c.Int("reverse", 0) != 0));
}

void TopK(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  int64_t k = c.Int("k", -1);
  if (c.opset >= 10) {
    const auto known = c.KnownInt(1);
    if (!known) return;
    k = *known;
  }
  const auto axis = c.g.Axis(c.Int("axis", -1), c.g.Rank(x));
  if (!axis) return;
  const Dim& extent = c.g.Extent(x, *axis);
  if (k < 0 || (!extent.is_symbolic() && k > extent.value())) {
    c.Fail(absl::StrCat("the first ", k, " of ", c.g.Describe(x)));
    return;
  }
  const bool may_select = k > 0 && !extent.is_symbolic();
  const auto [sorted, numbers] =
      c.g.Sort(x, *axis, c.Int("largest", 1) != 0, may_select ? std::optional(k) : std::nullopt);
  c.Return(c.g.Slice(sorted, *axis, 0, k), 0);
  c.Return(c.g.Slice(numbers, *axis, 0, k), 1);
}

constexpr Operator kReduceOperators[] = {
    {"", "ArgMax", 1, ArgMost<true>},
    {"", "ArgMin", 1, ArgMost<false>},
    {"", "CumProd", 26, CumProd},
    {"", "CumSum", 11, CumSum},
    {"", "Hardmax", 1, Hardmax},
    {"", "LogSoftmax", 1, SoftmaxLike<&GraphBuilder::LogSoftmax>},
    {"", "ReduceL1", 1, ReduceL1},
    {"", "ReduceL2", 1, ReduceL2},
    {"", "ReduceLogSum", 1, ReduceLogSum},
    {"", "ReduceLogSumExp", 1, ReduceLogSumExp},
    {"", "ReduceMax", 1, ReduceMax},
    {"", "ReduceMean", 1, ReduceMean},
    {"", "ReduceMin", 1, ReduceMin},
    {"", "ReduceProd", 1, ReduceProd},
    {"", "ReduceSum", 1, ReduceSum},
    {"", "ReduceSumSquare", 1, ReduceSumSquare},
    {"", "Softmax", 1, SoftmaxLike<&GraphBuilder::Softmax>},
    {"", "TopK", 1, TopK},
};

}  // namespace

std::span<const Operator> ReduceOperators() { return kReduceOperators; }

}  // namespace tg::onnx
