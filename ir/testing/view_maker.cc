#include "ir/testing/view_maker.h"

#include <numeric>

#include "ir/interpret/host_buffer.h"

namespace tg::testing {
namespace {

Shape Dims(const Extents& extents) { return {extents.begin(), extents.end()}; }

}  // namespace

Handle ViewMaker::With(const Handle& x, const UOp* node, Array array) {
  return {node, std::move(array), x.memory, x.state};
}

Handle ViewMaker::Reshape(const Handle& x, const Extents& shape) {
  if (shape == x.shape()) return x;
  return With(x, b_.Reshape(x.node, Dims(shape)), Reshaped(x.array, shape));
}

Handle ViewMaker::Shrink(const Handle& x, const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  return With(x, b_.Shrink(x.node, {pairs.begin(), pairs.end()}), Shrunk(x.array, pairs));
}

Handle ViewMaker::Pad(const Handle& x, const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  const int64_t padding = x.memory ? -1 : 0;
  return With(x, b_.Pad(x.node, {pairs.begin(), pairs.end()}), Padded(x.array, pairs, padding));
}

std::vector<std::pair<int64_t, int64_t>> ViewMaker::All(const Handle& x) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t d : x.shape()) pairs.emplace_back(0, d);
  return pairs;
}

Handle ViewMaker::RandomReshape(const Handle& x) {
  auto left = static_cast<int64_t>(x.array.size());
  Extents shape;
  while (left > 1 && shape.size() < 3) {
    Extents divisors;
    for (int64_t d = 2; d <= left; ++d) {
      if (left % d == 0) divisors.push_back(d);
    }
    shape.push_back(rng_.Pick(divisors));
    left /= shape.back();
  }
  if (shape.empty()) shape.push_back(1);
  shape.back() *= left;
  if (rng_.Percent(20)) shape.insert(shape.begin() + rng_.Below(2), 1);
  return Reshape(x, shape);
}

Handle ViewMaker::RandomPermute(const Handle& x) {
  Extents order(x.shape().size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<size_t>(rng_.Below(static_cast<int64_t>(i)))]);
  }
  return With(x, b_.Permute(x.node, order), Permuted(x.array, order));
}

Handle ViewMaker::RandomFlip(const Handle& x) {
  Extents axes;
  for (size_t k = 0; k < x.shape().size(); ++k) {
    if (rng_.Percent(60)) axes.push_back(static_cast<int64_t>(k));
  }
  return With(x, b_.Flip(x.node, axes), Flipped(x.array, axes));
}

Handle ViewMaker::RandomShrink(const Handle& x) {
  auto pairs = All(x);
  for (auto& [begin, end] : pairs) {
    if (!rng_.Percent(50)) continue;
    begin = rng_.Below(end);
    end = rng_.In(begin + 1, end);
  }
  return Shrink(x, pairs);
}

Handle ViewMaker::RandomSteps(const Handle& x) {
  const auto axis = static_cast<size_t>(rng_.Below(static_cast<int64_t>(x.shape().size())));
  const int64_t size = x.shape()[axis], step = rng_.In(2, 3), steps = (size + step - 1) / step;
  std::vector<std::pair<int64_t, int64_t>> pads(x.shape().size(), {0, 0});
  pads[axis].second = steps * step - size;
  Extents cut = x.shape(), whole = x.shape();
  whole[axis] = cut[axis] = steps;
  cut.insert(cut.begin() + static_cast<ptrdiff_t>(axis) + 1, step);
  const Handle parts = Reshape(Pad(x, pads), cut);
  auto ranges = All(parts);
  ranges[axis + 1] = {0, 1};
  return Reshape(Shrink(parts, ranges), whole);
}

Handle ViewMaker::Place(Handle x, int64_t most) {
  for (int64_t n = rng_.Below(most + 1); n > 0; --n) {
    if (x.shape().empty()) return x;
    switch (rng_.Below(6)) {
      case 0:
        x = RandomReshape(x);
        break;
      case 1:
        x = RandomPermute(x);
        break;
      case 2:
        x = RandomSteps(x);
        break;
      case 3:
        x = RandomFlip(x);
        break;
      default:
        x = RandomShrink(x);
    }
  }
  return x;
}

Handle ViewMaker::Read(const Handle& x) {
  if (!x.memory) return x;
  Handle value{x.node, x.array, nullptr, 0};
  for (int64_t& item : value.array.items) {
    item = item < 0 ? 0 : (*x.memory)[static_cast<size_t>(item)];
  }
  return value;
}

Handle ViewMaker::ToShape(const Handle& x, const Extents& shape) {
  if (x.shape() == shape) return x;
  const auto have = static_cast<int64_t>(x.array.size());
  const int64_t want = interpret::NumElements(shape);
  Handle flat = Reshape(x, {have});
  if (have == 1 && want > 1) {
    const Handle ones = Reshape(x, Extents(shape.size(), 1));
    return With(ones, b_.Expand(ones.node, Dims(shape)), Expanded(ones.array, shape));
  }
  if (have > want) {
    const int64_t from = rng_.Below(have - want + 1);
    flat = Shrink(flat, {{from, from + want}});
  } else if (have < want) {
    const int64_t before = rng_.Below(want - have + 1);
    flat = Pad(flat, {{before, want - have - before}});
  }
  return Reshape(flat, shape);
}

}  // namespace tg::testing
