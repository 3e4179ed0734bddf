// Reductions and what is made of them.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "frontend/common/graph_builder.h"
#include "ir/interpret/scalar.h"

namespace tg::frontend {

Value GraphBuilder::Reduce(Op op, Value x, const Ints& axes, bool keep) {
  if (!x) return nullptr;
  Ints at;
  for (const int64_t axis : axes) {
    const auto i = Axis(axis, Rank(x));
    if (!i) return nullptr;
    if (std::find(at.begin(), at.end(), *i) == at.end()) at.push_back(*i);
  }
  std::sort(at.begin(), at.end());
  if (at.empty()) return x;
  const Scalar type = x->dtype.scalar();
  const bool sums = op == Op::kAdd || op == Op::kMul;
  Value r = ir_.ReduceAxis(sums ? Widen(x) : x, op, at);
  if (!keep) {
    Shape shape = ShapeOf(r);
    for (size_t k = at.size(); k-- > 0;) shape.erase(shape.begin() + at[k]);
    r = Reshape(r, shape);
  }
  return Cast(r, type);
}

Value GraphBuilder::Mean(Value x, const Ints& axes, bool keep) {
  if (!x) return nullptr;
  Dim count = 1;
  for (const int64_t axis : axes) {
    const auto i = Axis(axis, Rank(x));
    if (!i) return nullptr;
    count = MulDim(count, Extent(x, *i));
  }
  const Scalar type = x->dtype.scalar();
  const Value wide = Widen(x);
  const Value sum = Reduce(Op::kAdd, wide, axes, keep);
  if (!sum) return nullptr;
  return Cast(Div(sum, DimValue(wide->dtype.scalar(), count)), type);
}

// What is subtracted from all elements of a row changes no result, and has no derivative.
// The greatest exponential is 1, so that the sum is at least 1 and its reciprocal, which the
// elements of a row share, does not overflow.
Value GraphBuilder::Softmax(Value x, int64_t axis) {
  if (!x) return nullptr;
  const Value w = Widen(x);
  const Value e = Exp(Sub(w, Detach(Reduce(Op::kMax, w, {axis}, true))));
  return Cast(Mul(e, Recip(Sum(e, {axis}, true))), x->dtype.scalar());
}

Value GraphBuilder::LogSoftmax(Value x, int64_t axis) {
  if (!x) return nullptr;
  const Value w = Widen(x);
  const Value shifted = Sub(w, Detach(Reduce(Op::kMax, w, {axis}, true)));
  return Cast(Sub(shifted, Log(Sum(Exp(shifted), {axis}, true))), x->dtype.scalar());
}

Value GraphBuilder::LogSumExp(Value x, const Ints& axes, bool keep) {
  if (!x) return nullptr;
  const Value w = Widen(x);
  Value most = Detach(Reduce(Op::kMax, w, axes, true));
  // Infinities would cancel to NaN.
  most = Where(IsInf(most), Like(most, 0), most);
  const Value sum = Add(Log(Sum(Exp(Sub(w, most)), axes, true)), most);
  Value r = Cast(sum, x->dtype.scalar());
  if (keep) return r;
  Ints sorted;
  for (const int64_t axis : axes) sorted.push_back(*Axis(axis, Rank(x)));
  std::sort(sorted.rbegin(), sorted.rend());
  for (const int64_t axis : sorted) r = Squeeze(r, axis);
  return r;
}

Value GraphBuilder::Normalize(Value x, const Ints& axes, double epsilon) {
  if (!x) return nullptr;
  const Value w = Widen(x);
  const Value centred = Sub(w, Mean(w, axes, true));
  const Value variance = Mean(Mul(centred, centred), axes, true);
  return Cast(Div(centred, Sqrt(Add(variance, Like(w, epsilon)))), x->dtype.scalar());
}

Value GraphBuilder::ArgMax(Value x, int64_t axis, bool keep, bool last) {
  if (!x) return nullptr;
  const auto at = Axis(axis, Rank(x));
  if (!at) return nullptr;
  const Dim n = Extent(x, *at);
  Value is_most = Eq(x, Reduce(Op::kMax, x, {*at}, true));
  // The maximum of a row with a NaN is NaN, which equals nothing.
  if (x->dtype.is_float()) is_most = Or(is_most, IsNan(x));
  Shape along(Rank(x), Dim(1));
  along[static_cast<size_t>(*at)] = n;
  const Value number = Reshape(Arange(Scalar::kI64, n), along);
  const Value none = last ? ConstInt(Scalar::kI64, -1) : DimValue(Scalar::kI64, n);
  return Reduce(last ? Op::kMax : Op::kMin, Where(is_most, number, none), {*at}, keep);
}

Value GraphBuilder::Cumulative(Op op, Value x, int64_t axis, bool exclusive, bool reverse) {
  if (!x) return nullptr;
  const auto at = Axis(axis, Rank(x));
  if (!at) return nullptr;
  // Sums of sums are rounded once too.
  if (const Value wide = Widen(x); wide != x) {
    return Cast(Cumulative(op, wide, axis, exclusive, reverse), x->dtype.scalar());
  }
  const Dim n = Extent(x, *at);
  const Value identity = ir_.ConstBits(x->dtype, interpret::ReduceIdentity(op, x->dtype.scalar()));
  // Long axes are cut into blocks: first within each, then from block to block.
  constexpr int64_t kBlock = 32;
  if (!n.is_symbolic() && n.value() > 2 * kBlock) {
    const int64_t blocks = (n.value() + kBlock - 1) / kBlock;
    Value moved = SwapAxes(x, *at, -1);
    std::vector<std::pair<Dim, Dim>> widths(Rank(x), {0, 0});
    widths.back().second = blocks * kBlock - n.value();
    Shape cut = ShapeOf(moved);
    cut.back() = blocks;
    cut.push_back(kBlock);
    moved = Reshape(Pad(moved, widths, identity), cut);
    const Value within = Cumulative(op, moved, -1, exclusive, reverse);
    const Value before = Cumulative(op, Reduce(op, moved, {-1}), -1, /*exclusive=*/true, reverse);
    const Value all = Binary(op, Unsqueeze(before, -1), within);
    const auto last = static_cast<int64_t>(Rank(x)) - 1;
    return SwapAxes(Slice(Flatten(all, last, last + 2), -1, 0, n), *at, -1);
  }
  // Element j is a term of sum i if j <= i, so all sums are one reduce over j.
  const Value i = Unsqueeze(Arange(Scalar::kI32, n), 1), j = Unsqueeze(Arange(Scalar::kI32, n), 0);
  const Value counts =
      exclusive ? (reverse ? Lt(i, j) : Lt(j, i)) : (reverse ? Le(i, j) : Le(j, i));
  const Value moved = Unsqueeze(SwapAxes(x, *at, -1), -2);
  return SwapAxes(Reduce(op, Where(counts, moved, identity), {-1}), *at, -1);
}

namespace {

Scalar SignedWord(Scalar type) {
  switch (BitWidth(type)) {
    case 8:
      return Scalar::kI8;
    case 16:
      return Scalar::kI16;
    case 32:
      return Scalar::kI32;
    default:
      return Scalar::kI64;
  }
}

// Maps a float's bits, read as a signed integer, to an integer that orders as floats do: of
// negative numbers all bits but the sign's are inverted. The map is its own inverse.
Value OrderBits(GraphBuilder& g, Value bits) {
  const Scalar type = bits->dtype.scalar();
  const auto all = static_cast<int64_t>((uint64_t{1} << (BitWidth(type) - 1)) - 1);
  return g.Where(g.Lt(bits, g.Like(bits, 0)), g.Xor(bits, g.ConstInt(type, all)), bits);
}

}  // namespace

std::pair<Value, Value> GraphBuilder::Sort(Value x, int64_t axis, bool descending,
                                           std::optional<int64_t> count) {
  if (!x) return {nullptr, nullptr};
  if (x->dtype.is_float()) {
    // As integers, among which NaN is the greatest and zeros are equal.
    const Scalar type = x->dtype.scalar(), word = SignedWord(type);
    const Value zero = Like(x, 0), nan = Like(x, std::numeric_limits<double>::quiet_NaN());
    const Value canonical = Where(IsNan(x), Abs(nan), Where(Eq(x, zero), zero, x));
    Value keys = OrderBits(*this, Bitcast(canonical, word));
    // A whole sort compares each key with each other one.
    if (!count || *count > kFewSorted) keys = Stored(keys);
    const auto [sorted, numbers] = Sort(keys, axis, descending, count);
    if (!sorted) return {nullptr, nullptr};
    return {Bitcast(OrderBits(*this, sorted), type), numbers};
  }
  const auto at = Axis(axis, Rank(x));
  if (!at) return {nullptr, nullptr};
  const Dim n = Extent(x, *at);
  if (count && *count <= kFewSorted && !n.is_symbolic()) {
    return SelectFirst(x, *at, descending, *count);
  }
  // The rank of an element is the number of elements that come before it; the sorted tensor has the
  // element at that index.
  const Value moved = SwapAxes(x, *at, -1);
  const Value mine = Unsqueeze(moved, -1), other = Unsqueeze(moved, -2);
  const Value i = Unsqueeze(Arange(Scalar::kI32, n), 1), j = Unsqueeze(Arange(Scalar::kI32, n), 0);
  const Value first = descending ? Lt(mine, other) : Lt(other, mine);
  const Value before = Or(first, And(Eq(other, mine), Lt(j, i)));
  const Value rank = Sum(Cast(before, Scalar::kI32), {-1});
  const Value ranks = Unsqueeze(Arange(Scalar::kI32, count ? Dim(*count) : n), 1);
  const Value place = Eq(Unsqueeze(rank, -2), ranks);
  const Value sorted = Sum(Where(place, Unsqueeze(moved, -2), Like(x, 0)), {-1});
  const Value number = Arange(Scalar::kI64, n);
  const Value numbers = Sum(Where(place, number, Like(number, 0)), {-1});
  return {SwapAxes(sorted, *at, -1), SwapAxes(numbers, *at, -1)};
}

// Takes the first of what is left, `count` times. Of equal elements the one of the least index
// comes first.
std::pair<Value, Value> GraphBuilder::SelectFirst(Value x, size_t axis, bool descending,
                                                  int64_t count) {
  const Op op = descending ? Op::kMax : Op::kMin;
  const Value moved = SwapAxes(x, static_cast<int64_t>(axis), -1);
  const Dim n = Extent(x, axis);
  const Value number = Arange(Scalar::kI32, n), none = DimValue(Scalar::kI32, n);
  const Value identity = ir_.ConstBits(x->dtype, interpret::ReduceIdentity(op, x->dtype.scalar()));
  Value taken = nullptr;
  std::vector<Value> values, numbers;
  for (int64_t k = 0; k < count; ++k) {
    const Value value = Reduce(op, taken ? Where(taken, identity, moved) : moved, {-1}, true);
    const Value equal = Eq(moved, value);
    const Value free = taken ? And(equal, Not(taken)) : equal;
    const Value at = Reduce(Op::kMin, Where(free, number, none), {-1}, true);
    const Value is_this = Eq(number, at);
    taken = taken ? Or(taken, is_this) : is_this;
    values.push_back(value);
    numbers.push_back(Cast(at, Scalar::kI64));
  }
  const auto back = static_cast<int64_t>(axis);
  return {SwapAxes(Concat(values, -1), back, -1), SwapAxes(Concat(numbers, -1), back, -1)};
}

}  // namespace tg::frontend
