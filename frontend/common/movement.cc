// Broadcasting, movement, and what is made of it: slices, pads, concatenation.
#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "frontend/common/graph_builder.h"

namespace tg::frontend {

std::optional<int64_t> GraphBuilder::Axis(int64_t axis, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n) {
    Fail(absl::StrCat("there is no axis ", axis, " among ", rank));
    return std::nullopt;
  }
  return axis < 0 ? axis + n : axis;
}

Value GraphBuilder::Expand(Value x, const Shape& shape) {
  return x && IsPossible(shape) ? Checked(ir_.Expand(x, shape)) : nullptr;
}

Value GraphBuilder::ShrinkTo(Value x, const std::vector<std::pair<Dim, Dim>>& bounds) {
  return x && ArePossible(bounds) ? Checked(ir_.Shrink(x, bounds)) : nullptr;
}

Value GraphBuilder::PadZeros(Value x, const std::vector<std::pair<Dim, Dim>>& widths) {
  return x && ArePossible(widths) ? Checked(ir_.Pad(x, widths)) : nullptr;
}

Value GraphBuilder::Reshape(Value x, const Shape& shape) {
  if (!x) return nullptr;
  const Shape& from = ShapeOf(x);
  if (from == shape) return x;
  if (!IsPossible(shape)) return nullptr;
  if (IsStatic(from) && IsStatic(shape) && tg::NumElements(from) != tg::NumElements(shape)) {
    return Fail(absl::StrCat("a reshape of ", Describe(x), " to ", ShapeText(shape)));
  }
  return Checked(ir_.Reshape(x, shape));
}

std::optional<Shape> GraphBuilder::BroadcastShapes(std::span<const Value> values) {
  Shape shape;
  for (const Value v : values) {
    if (!v) return std::nullopt;
    const Shape& s = ShapeOf(v);
    if (s.size() > shape.size()) shape.insert(shape.begin(), s.size() - shape.size(), Dim(1));
    for (size_t i = 0; i < s.size(); ++i) {
      Dim& to = shape[shape.size() - s.size() + i];
      if (to == s[i] || s[i].Is(1)) continue;
      if (to.Is(1)) {
        to = s[i];
      } else if (!to.is_symbolic() && !s[i].is_symbolic()) {
        std::string shapes;
        for (const Value w : values) absl::StrAppend(&shapes, " ", ShapeText(ShapeOf(w)));
        Fail("shapes that do not broadcast:" + shapes);
        return std::nullopt;
      } else if (to.is_symbolic() && !s[i].is_symbolic()) {
        // A symbolic extent next to a number: they are equal in every valid run.
        to = s[i];
      }
    }
  }
  return shape;
}

Value GraphBuilder::BroadcastTo(Value x, const Shape& shape) {
  if (!x) return nullptr;
  Shape from = ShapeOf(x);
  if (from == shape) return x;
  if (from.size() > shape.size()) {
    return Fail(absl::StrCat(Describe(x), " does not broadcast to ", ShapeText(shape)));
  }
  const size_t added = shape.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    const Dim& to = shape[added + i];
    if (from[i] == to || from[i].Is(1)) continue;
    // Two ways to write one extent: they are equal in every valid run.
    if (from[i].is_symbolic() || to.is_symbolic()) continue;
    return Fail(absl::StrCat(Describe(x), " does not broadcast to ", ShapeText(shape)));
  }
  from.insert(from.begin(), added, Dim(1));
  x = Reshape(x, from);
  return !x || from == shape ? x : Expand(x, shape);
}

Value GraphBuilder::Permute(Value x, const Ints& order) {
  if (!x) return nullptr;
  std::vector<bool> seen(Rank(x));
  bool is_identity = true;
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t axis = order[i];
    if (order.size() != seen.size() || axis < 0 || axis >= static_cast<int64_t>(seen.size()) ||
        seen[static_cast<size_t>(axis)]) {
      return Fail(absl::StrCat("no permutation of the axes of ", Describe(x)));
    }
    seen[static_cast<size_t>(axis)] = true;
    is_identity &= axis == static_cast<int64_t>(i);
  }
  if (order.size() != seen.size()) {
    return Fail(absl::StrCat("no permutation of the axes of ", Describe(x)));
  }
  return is_identity ? x : ir_.Permute(x, order);
}

Value GraphBuilder::SwapAxes(Value x, int64_t a, int64_t b) {
  if (!x) return nullptr;
  const auto first = Axis(a, Rank(x)), second = Axis(b, Rank(x));
  if (!first || !second) return nullptr;
  Ints order(Rank(x));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(*first)], order[static_cast<size_t>(*second)]);
  return Permute(x, order);
}

Value GraphBuilder::Unsqueeze(Value x, int64_t axis) {
  if (!x) return nullptr;
  const auto at = Axis(axis, Rank(x) + 1);
  if (!at) return nullptr;
  Shape shape = ShapeOf(x);
  shape.insert(shape.begin() + *at, Dim(1));
  return Reshape(x, shape);
}

Value GraphBuilder::Squeeze(Value x, int64_t axis) {
  if (!x) return nullptr;
  const auto at = Axis(axis, Rank(x));
  if (!at) return nullptr;
  Shape shape = ShapeOf(x);
  const Dim extent = shape[static_cast<size_t>(*at)];
  if (!extent.Is(1) && !extent.is_symbolic()) {
    return Fail(absl::StrCat("axis ", axis, " of ", Describe(x), " is squeezed"));
  }
  // The expression of an extent that is always 1 is none of the result's.
  if (extent.is_symbolic() && Greatest(extent) == 1) x = Slice(x, *at, 0, 1);
  shape.erase(shape.begin() + *at);
  return Reshape(x, shape);
}

Value GraphBuilder::Flatten(Value x, int64_t first, int64_t last) {
  if (!x) return nullptr;
  const Shape& from = ShapeOf(x);
  if (first < 0 || first > last || last > static_cast<int64_t>(from.size())) {
    return Fail(absl::StrCat("there are no axes ", first, " to ", last, " of ", Describe(x)));
  }
  Shape shape(from.begin(), from.begin() + first);
  shape.push_back(NumElements(Shape(from.begin() + first, from.begin() + last)));
  shape.insert(shape.end(), from.begin() + last, from.end());
  return Reshape(x, shape);
}

Value GraphBuilder::Flip(Value x, const Ints& axes) {
  if (!x) return nullptr;
  std::set<int64_t> flipped;  // ascending, as the IR wants them
  for (const int64_t axis : axes) {
    const auto at = Axis(axis, Rank(x));
    if (!at) return nullptr;
    flipped.insert(*at);
  }
  return flipped.empty() ? x : ir_.Flip(x, Ints(flipped.begin(), flipped.end()));
}

Value GraphBuilder::Slice(Value x, int64_t axis, const Dim& start, const Dim& stop, int64_t step) {
  if (!x) return nullptr;
  const Shape shape = ShapeOf(x);
  const auto at = Axis(axis, shape.size());
  if (!at) return nullptr;
  const auto i = static_cast<size_t>(*at);
  std::vector<std::pair<Dim, Dim>> bounds;
  for (const Dim& d : shape) bounds.push_back({0, d});
  bounds[i] = {start, stop};
  if (!(start.Is(0) && stop == shape[i])) x = ShrinkTo(x, bounds);
  if (!x || step == 1) return x;
  // Every step-th element is the first of a row, once the axis is as long as whole rows.
  const Dim length = SubDim(stop, start);
  const Dim rows = FloorDivDim(AddDim(length, Dim(step - 1)), step);
  std::vector<std::pair<Dim, Dim>> widths(shape.size(), {0, 0});
  widths[i].second = SubDim(MulDim(rows, Dim(step)), length);
  x = Pad(x, widths);
  if (!x) return nullptr;
  Shape split = ShapeOf(x);
  split[i] = rows;
  split.insert(split.begin() + *at + 1, Dim(step));
  x = Reshape(x, split);
  x = Slice(x, *at + 1, 0, 1);
  return Squeeze(x, *at + 1);
}

Value GraphBuilder::Pad(Value x, const std::vector<std::pair<Dim, Dim>>& widths, Value fill,
                        PadMode mode) {
  if (!x) return nullptr;
  const Shape shape = ShapeOf(x);
  if (widths.size() != shape.size()) return Fail("pads for another rank");
  if (!ArePossible(widths)) return nullptr;
  // A negative width crops the axis.
  std::vector<std::pair<Dim, Dim>> bounds, pads;
  bool crops = false, grows = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    auto [before, after] = widths[i];
    Dim start = 0, stop = shape[i];
    if (!before.is_symbolic() && before.value() < 0) {
      start = -before.value();
      before = 0;
    }
    if (!after.is_symbolic() && after.value() < 0) {
      stop = AddDim(stop, after);
      after = 0;
    }
    if (!start.is_symbolic() && !stop.is_symbolic() && start.value() > stop.value()) {
      return Fail(absl::StrCat("more is cropped than ", Describe(x), " has"));
    }
    crops |= !start.Is(0) || stop != shape[i];
    grows |= !before.Is(0) || !after.Is(0);
    bounds.push_back({start, stop});
    pads.push_back({before, after});
  }
  if (crops) x = ShrinkTo(x, bounds);
  if (!grows) return x;
  if (mode != PadMode::kConstant) return PadByCopies(x, pads, mode);
  const bool is_zero = !fill || (fill->op == Op::kConst && fill->word() == 0);
  if (is_zero) return PadZeros(x, pads);
  // A `true` that is padded with zeros marks the elements of x.
  const Value inside = PadZeros(Full(ShapeOf(x), ir_.Bool(true)), pads);
  return Where(inside, PadZeros(x, pads), fill);
}

Value GraphBuilder::PadByCopies(Value x, const std::vector<std::pair<Dim, Dim>>& pads,
                                PadMode mode) {
  for (size_t i = 0; i < pads.size() && x; ++i) {
    if (pads[i].first.Is(0) && pads[i].second.Is(0)) continue;
    const Dim extent = ShapeOf(x)[i];
    if (pads[i].first.is_symbolic() || pads[i].second.is_symbolic()) {
      return Fail("symbolic pads other than constant ones");
    }
    // A symbolic axis is repeated once on each side: a slice beyond its end is refused by the run.
    const int64_t n = extent.is_symbolic() ? kMaxElements : extent.value();
    const auto axis = static_cast<int64_t>(i);
    if (n == 0) return Fail("elements of an empty axis are repeated");
    // Pieces of the axis in the order in which they follow each other, each a copy of a part of it.
    const auto piece = [&](const Dim& start, const Dim& stop, bool reversed) {
      const Value part = Slice(x, axis, start, stop);
      return reversed ? Flip(part, {axis}) : part;
    };
    const auto edge = [&](bool first, int64_t count) {
      Shape shape = ShapeOf(x);
      shape[i] = count;
      const Dim start = first ? Dim(0) : SubDim(extent, 1);
      return Expand(piece(start, first ? Dim(1) : extent, false), shape);
    };
    // Each repetition is a node.
    constexpr int64_t kMaxParts = 4096;
    const int64_t by_part = mode == PadMode::kWrap ? n : std::max<int64_t>(n - 1, 1);
    const auto num_parts = [&](int64_t width) { return (width + by_part - 1) / by_part; };
    if (mode != PadMode::kEdge && n > 1 &&
        num_parts(pads[i].first.value()) + num_parts(pads[i].second.value()) > kMaxParts) {
      return Fail(absl::StrCat("an axis of ", n, " elements repeated more than ", kMaxParts,
                               " times by a pad"));
    }
    std::vector<Value> parts{x};
    // Reflections go on in the other direction, over and over: of period 2 (n - 1).
    for (const bool front : {true, false}) {
      int64_t left = front ? pads[i].first.value() : pads[i].second.value();
      bool reversed = true;
      while (left > 0) {
        Value part = nullptr;
        int64_t count = left;
        if (mode == PadMode::kEdge || n == 1) {
          part = edge(front, left);
        } else if (mode == PadMode::kWrap) {
          count = std::min(left, n);
          part = front ? piece(SubDim(extent, count), extent, false) : piece(0, count, false);
        } else {
          count = std::min(left, n - 1);
          // Next to x: elements 1.. backwards in front, n-2, n-3, ... behind; then forwards.
          const bool from_start = front == reversed;
          const Dim last = SubDim(extent, 1);
          part = from_start ? piece(1, 1 + count, reversed)
                            : piece(SubDim(last, count), last, reversed);
          reversed = !reversed;
        }
        parts.insert(front ? parts.begin() : parts.end(), part);
        left -= count;
      }
    }
    x = Concat(parts, axis);
  }
  return x;
}

Value GraphBuilder::Concat(std::span<const Value> values, int64_t axis) {
  if (values.empty()) return Fail("a concatenation of nothing");
  for (const Value v : values) {
    if (!v) return nullptr;
  }
  const auto at = Axis(axis, Rank(values[0]));
  if (!at) return nullptr;
  const auto i = static_cast<size_t>(*at);
  Dim total = 0;
  for (const Value v : values) {
    const Shape& s = ShapeOf(v);
    const Shape& first = ShapeOf(values[0]);
    bool fits = s.size() == first.size() && v->dtype == values[0]->dtype;
    for (size_t k = 0; fits && k < s.size(); ++k) {
      fits = k == i || s[k] == first[k] || s[k].is_symbolic() || first[k].is_symbolic();
    }
    if (!fits) {
      return Fail(absl::StrCat("a concatenation of ", Describe(values[0]), " and ", Describe(v),
                               " along axis ", axis));
    }
    total = AddDim(total, s[i]);
  }
  if (!IsPossible({total})) return nullptr;
  // Each value is padded with zeros to its place in the result. At each element at most one of them
  // is not padding.
  Value all = nullptr;
  Dim before = 0;
  for (size_t n = 0; n < values.size(); ++n) {
    const Value v = values[n];
    const Dim extent = ShapeOf(v)[i];
    if (extent.Is(0)) continue;
    // Symbolic extents that are added up have the form of the total more often than differences.
    Dim after = 0;
    for (const Value later : values.subspan(n + 1)) after = AddDim(after, ShapeOf(later)[i]);
    if (AddDim(AddDim(before, extent), after) != total) {
      after = SubDim(SubDim(total, before), extent);
    }
    std::vector<std::pair<Dim, Dim>> pads(Rank(v), {0, 0});
    pads[i] = {before, after};
    const Value part = extent == total ? v : PadZeros(v, pads);
    all = all ? Add(all, part) : part;
    before = AddDim(before, extent);
  }
  return all ? all : values[0];
}

Value GraphBuilder::Stack(std::span<const Value> values, int64_t axis) {
  std::vector<Value> parts;
  for (const Value v : values) parts.push_back(Unsqueeze(v, axis));
  return Concat(parts, axis);
}

Value GraphBuilder::Tile(Value x, const Ints& repeats) {
  if (!x) return nullptr;
  const Shape shape = ShapeOf(x);
  if (repeats.size() != shape.size()) return Fail("repeats for another rank");
  Shape inserted, expanded, joined;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (repeats[i] < 0) return Fail("a negative number of repeats");
    inserted.insert(inserted.end(), {Dim(1), shape[i]});
    expanded.insert(expanded.end(), {Dim(repeats[i]), shape[i]});
    joined.push_back(MulDim(Dim(repeats[i]), shape[i]));
  }
  return Reshape(BroadcastTo(Reshape(x, inserted), expanded), joined);
}

Value GraphBuilder::RepeatInterleave(Value x, int64_t axis, int64_t times) {
  if (!x || times == 1) return x;
  const auto at = Axis(axis, Rank(x));
  if (!at) return nullptr;
  Shape expanded = ShapeOf(x), joined = expanded;
  const auto i = static_cast<size_t>(*at);
  joined[i] = MulDim(joined[i], Dim(times));
  expanded.insert(expanded.begin() + *at + 1, Dim(times));
  return Reshape(BroadcastTo(Unsqueeze(x, *at + 1), expanded), joined);
}

}  // namespace tg::frontend
