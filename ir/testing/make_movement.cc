// Movement ops of random graphs, on constant and on symbolic extents.
#include <algorithm>
#include <numeric>

#include "ir/testing/graph_maker.h"

namespace tg::testing {

bool GraphMaker::Small(const std::vector<int64_t>& extents) const {
  return interpret::NumElements(extents) <= options_.max_elements;
}

// Random extents, some of them 1, with the product n.
std::vector<int64_t> GraphMaker::RandomFactors(int64_t n) {
  std::vector<int64_t> out;
  if (n == 0) {
    out.assign(static_cast<size_t>(rng_.In(1, 3)), 0);
    for (size_t i = 1; i < out.size(); ++i) out[i] = rng_.Below(4);
    std::swap(out[0], out[static_cast<size_t>(rng_.Below(static_cast<int64_t>(out.size())))]);
    return out;
  }
  while (n > 1 && out.size() < 4) {
    std::vector<int64_t> divisors;
    for (int64_t d = 2; d <= n; ++d) {
      if (n % d == 0) divisors.push_back(d);
    }
    out.push_back(rng_.Percent(25) ? n : rng_.Pick(divisors));
    n /= out.back();
  }
  if (n > 1) out.back() *= n;
  while (out.size() < 5 && rng_.Percent(20)) {
    out.insert(out.begin() + rng_.Below(static_cast<int64_t>(out.size()) + 1), 1);
  }
  return out;
}

std::optional<Value> GraphMaker::Reshape(const Value& x) {
  Shape to;
  if (IsStatic(x.shape) && rng_.Percent(75)) {
    for (int64_t e : RandomFactors(x.size())) to.push_back(e);
    return Moved(x, b_.Reshape(x.node, to));
  }
  // Adds and removes axes of size 1, merges neighbours, and splits axes into factors.
  to = x.shape;
  const auto rank = static_cast<int64_t>(to.size());
  if (rng_.Percent(35) && rank < 5) {
    to.insert(to.begin() + rng_.Below(rank + 1), 1);
  } else if (rank >= 2 && rng_.Percent(60)) {
    const auto at = rng_.Below(rank - 1);
    to[static_cast<size_t>(at)] =
        MulDims(b_.context(), to[static_cast<size_t>(at)], to[static_cast<size_t>(at) + 1]);
    to.erase(to.begin() + at + 1);
  } else {
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i].is_symbolic() && to[i].symbol()->op == Op::kMul) {
        const UOp* product = to[i].symbol();
        to[i] = Dim(product->src(0));
        to.insert(to.begin() + static_cast<ptrdiff_t>(i) + 1, Dim(product->src(1)));
        break;
      }
    }
  }
  return Moved(x, b_.Reshape(x.node, to));
}

std::optional<Value> GraphMaker::Expand(const Value& x) {
  Value from = x;
  bool in_front = false;
  if (from.shape.size() < 4 && rng_.Percent(60)) {
    Shape with_one = from.shape;
    const int64_t at = rng_.Below(static_cast<int64_t>(with_one.size()) + 1);
    with_one.insert(with_one.begin() + at, 1);
    from = Moved(from, b_.Reshape(from.node, with_one));
    in_front = at == 0;
  }
  Shape to = from.shape;
  std::vector<int64_t> extents = from.extents;
  for (size_t i = 0; i < to.size(); ++i) {
    if (!to[i].Is(1) || !rng_.Percent(80)) continue;
    const Dim was = to[i];
    if (var_ && rng_.Percent(30)) {
      to[i] = Dim(var_);
      extents[i] = var_value_;
    } else {
      to[i] = extents[i] = rng_.In(empty_ ? 0 : 1, 6);
    }
    if (!Small(extents)) {
      to[i] = was;
      extents[i] = 1;
    }
  }
  // A broadcast combines the reshape and the expand.
  return Moved(from, in_front ? b_.Broadcast(x.node, to) : b_.Expand(from.node, to));
}

std::optional<Value> GraphMaker::Permute(const Value& x) {
  if (x.shape.size() < 2 && rng_.Percent(90)) return std::nullopt;
  std::vector<int64_t> order(x.shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<size_t>(rng_.Below(static_cast<int64_t>(i)))]);
  }
  return Moved(x, b_.Permute(x.node, order));
}

std::optional<Value> GraphMaker::Flip(const Value& x) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (rng_.Percent(50)) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty() && rng_.Percent(95)) return std::nullopt;
  return Moved(x, b_.Flip(x.node, axes));
}

std::optional<Value> GraphMaker::Pad(const Value& x) {
  std::vector<std::pair<Dim, Dim>> pairs;
  std::vector<int64_t> extents = x.extents;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    std::pair<Dim, Dim> pair(0, 0);
    if (rng_.Percent(50)) {
      const int64_t before = rng_.Below(3), after = rng_.Below(3);
      pair = {before, after};
      extents[i] += before + after;
      if (var_ && rng_.Percent(12)) {
        pair.first = Dim(var_);
        extents[i] += var_value_ - before;
      }
      if (!Small(extents)) {
        pair = {0, 0};
        extents[i] = x.extents[i];
      }
    }
    pairs.push_back(pair);
  }
  return Moved(x, b_.Pad(x.node, pairs));
}

std::optional<Value> GraphMaker::Shrink(const Value& x) {
  std::vector<std::pair<Dim, Dim>> pairs;
  for (const Dim& d : x.shape) {
    std::pair<Dim, Dim> pair(0, d);
    if (!d.is_symbolic()) {
      const int64_t size = d.value();
      if (var_ && var_max_ <= size && rng_.Percent(25)) {
        // The first n elements, or all elements but n.
        pair = rng_.Percent(60) ? std::pair<Dim, Dim>(0, Dim(var_))
                                : std::pair<Dim, Dim>(Dim(var_), size);
      } else if (rng_.Percent(50)) {
        const int64_t from = rng_.Below(size + 1);
        int64_t to = rng_.In(from, size);
        if (to == from && !(empty_ && rng_.Percent(30))) {
          pair = {from == size ? std::max<int64_t>(size - 1, 0) : from,
                  from == size ? size : from + 1};
        } else {
          pair = {from, to};
        }
      }
    } else if (d.symbol() == var_ && rng_.Percent(30)) {
      pair.first = rng_.Below(var_min_);
    }
    pairs.push_back(pair);
  }
  return Moved(x, b_.Shrink(x.node, pairs));
}

// A list of one to three views, with strides of 0, negative strides, windows and masks.
std::optional<Value> GraphMaker::View(const Value& x) {
  if (!IsStatic(x.shape)) return std::nullopt;
  std::vector<int64_t> words = {0};
  int64_t size = x.size();
  for (int64_t views = rng_.In(1, 3); views > 0; --views) {
    std::vector<int64_t> shape;
    if (rng_.Percent(40)) {
      shape = RandomFactors(size);
    } else {
      for (int64_t rank = rng_.Below(4); rank > 0; --rank) {
        shape.push_back(rng_.In(empty_ ? 0 : 1, 6));
      }
    }
    if (!Small(shape)) return std::nullopt;
    const size_t rank = shape.size();
    std::vector<int64_t> strides(rank);
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0;) {
      strides[i] = stride;
      stride *= std::max<int64_t>(shape[i], 1);
      const int64_t roll = rng_.Below(10);
      if (roll == 0) strides[i] = 0;
      if (roll == 1) strides[i] = -strides[i];
      if (roll == 2) strides[i] = rng_.In(-3, 4);
    }
    if (rank > 1 && rng_.Percent(25)) std::swap(strides[0], strides[rank - 1]);
    std::vector<std::pair<int64_t, int64_t>> mask;
    if (rng_.Percent(35) || size == 0) {
      for (size_t i = 0; i < rank; ++i) {
        const int64_t begin = rng_.Percent(50) ? 0 : rng_.Below(shape[i] + 1);
        mask.emplace_back(begin, size == 0 ? begin : rng_.In(begin, shape[i]));
      }
    }
    // Shifts the offsets of unmasked elements into [0, size).
    int64_t least = 0, greatest = 0;
    bool none = false;
    for (size_t i = 0; i < rank; ++i) {
      const int64_t begin = mask.empty() ? 0 : mask[i].first;
      const int64_t end = mask.empty() ? shape[i] : mask[i].second;
      none |= begin >= end;
      least += std::min(begin * strides[i], (end - 1) * strides[i]);
      greatest += std::max(begin * strides[i], (end - 1) * strides[i]);
    }
    int64_t offset = 0;
    if (!none) {
      if (greatest - least >= size) return std::nullopt;
      offset = rng_.In(-least, size - 1 - greatest);
    }
    words.push_back(static_cast<int64_t>(rank));
    words.insert(words.end(), shape.begin(), shape.end());
    words.insert(words.end(), strides.begin(), strides.end());
    words.push_back(offset);
    words.push_back(mask.empty() ? 0 : 1);
    for (const auto& [begin, end] : mask) {
      words.push_back(begin);
      words.push_back(end);
    }
    size = interpret::NumElements(shape);
  }
  words[0] = static_cast<int64_t>(words.size()) - 1;
  Context& ctx = b_.context();
  return Moved(x, ctx.Make(Op::kView, x.node->dtype, {x.node}, ctx.MakeAttr(Op::kView, words)));
}

Value GraphMaker::Movement(Value x) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    std::optional<Value> v;
    switch (rng_.Below(7)) {
      case 0:
        v = Reshape(x);
        break;
      case 1:
        v = Expand(x);
        break;
      case 2:
        v = Permute(x);
        break;
      case 3:
        v = Flip(x);
        break;
      case 4:
        v = Pad(x);
        break;
      case 5:
        v = Shrink(x);
        break;
      default:
        v = View(x);
    }
    if (v) return *v;
  }
  return x;
}

}  // namespace tg::testing
