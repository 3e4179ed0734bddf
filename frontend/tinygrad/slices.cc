// Translator: slices that may end past a symbolic extent.
//
// tinygrad's SHRINK moves indices and does not look at the extents of its source. A graph that
// TinyJit replays returns tensors whose variables have the values of the capture, so programs take
// slices that end past such an extent: of memory, which has the greatest extents. A shrink of tg
// ends inside of its source. Such a slice is therefore taken of the operands, down to a value that
// contains it.
#include <algorithm>
#include <map>
#include <utility>

#include "frontend/tinygrad/extents.h"
#include "frontend/tinygrad/translator.h"
#include "ir/walk.h"

namespace tg::tinygrad {
namespace {

// A graph in which values meet in many slices is left as it is.
constexpr size_t kMaxSlices = 10000;

// The positions of the axes whose extent is not 1.
std::vector<size_t> LongAxes(const Shape& shape) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].Is(1)) axes.push_back(i);
  }
  return axes;
}

// Identifies the slice of a node.
std::vector<int64_t> KeyOf(const UOp* x, const std::vector<std::pair<Dim, Dim>>& ranges) {
  std::vector<int64_t> key{x->id};
  for (const auto& [begin, end] : ranges) {
    for (const Dim& d : {begin, end}) {
      key.push_back(d.is_symbolic());
      key.push_back(d.is_symbolic() ? int64_t{d.symbol()->id} : d.value());
    }
  }
  return key;
}

}  // namespace

Shape Translator::ExtentsOf(const Slice& slice) {
  Shape extents;
  for (const auto& [begin, end] : slice.ranges) extents.push_back(SubDims(ctx_, end, begin));
  return extents;
}

bool Translator::Contains(const Slice& slice) {
  const Shape& shape = ShapeOf(slice.x);
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim& end = slice.ranges[i].second;
    if (end == shape[i]) continue;
    const auto excess = LargestExtent(module_, ctx_, SubDims(ctx_, end, shape[i]));
    if (!excess || *excess > 0) return false;
  }
  return true;
}

std::optional<std::vector<std::optional<Translator::Slice>>> Translator::SourcesOf(
    const Slice& slice) {
  const UOp* u = slice.x;
  std::vector<std::optional<Slice>> sources;
  if (IsElementwise(u->op)) {
    for (const UOp* s : u->srcs()) {
      sources.push_back(ShapeOf(s).empty() ? std::nullopt : std::optional(Slice{s, slice.ranges}));
    }
    return sources;
  }
  if (u->num_srcs == 0) return std::nullopt;
  const Shape &from = ShapeOf(u->src(0)), &to = ShapeOf(u);
  Ranges ranges = slice.ranges;
  switch (u->op) {
    case Op::kShrink: {
      const auto inner = PairsOf(u);
      for (size_t i = 0; i < ranges.size(); ++i) {
        ranges[i].first = AddDims(ctx_, inner[i].first, ranges[i].first);
        ranges[i].second = AddDims(ctx_, inner[i].first, ranges[i].second);
      }
      break;
    }
    case Op::kPermute:
      for (size_t i = 0; i < ranges.size(); ++i) {
        ranges[static_cast<size_t>(u->list()[i])] = slice.ranges[i];
      }
      break;
    case Op::kExpand:
      for (size_t i = 0; i < ranges.size(); ++i) {
        if (from[i] == to[i]) continue;
        if (!from[i].Is(1)) return std::nullopt;  // the same extent in two forms
        ranges[i] = {0, 1};
      }
      break;
    case Op::kReduceAxis:
      for (size_t i = 0; i < ranges.size(); ++i) {
        if (from[i] != to[i]) ranges[i] = {0, from[i]};
      }
      break;
    case Op::kReshape: {
      const std::vector<size_t> inner = LongAxes(from), outer = LongAxes(to);
      if (inner.size() != outer.size()) return std::nullopt;
      for (size_t i = 0; i < ranges.size(); ++i) {
        if (to[i].Is(1) && ranges[i] != std::pair<Dim, Dim>(0, 1)) return std::nullopt;
      }
      ranges.assign(from.size(), {0, 1});
      for (size_t i = 0; i < inner.size(); ++i) {
        if (from[inner[i]] != to[outer[i]]) return std::nullopt;
        ranges[inner[i]] = slice.ranges[outer[i]];
      }
      break;
    }
    default:
      return std::nullopt;
  }
  sources.push_back(Slice{u->src(0), std::move(ranges)});
  return sources;
}

const UOp* Translator::EmitSlice(const Node& n, const Slice& slice, const Nodes& sources) {
  const UOp* u = slice.x;
  if (u->op == Op::kShrink) return sources[0];
  if (u->op == Op::kReshape || u->op == Op::kExpand) {
    return u->op == Op::kReshape ? EmitReshape(n, sources[0], ExtentsOf(slice))
                                 : EmitDims(n, Op::kExpand, sources[0], ExtentsOf(slice));
  }
  return Emit(n, u->op, u->dtype, {sources.data(), sources.size()}, u->attr);
}

const UOp* Translator::EmitShrink(const Node& n, const UOp* x, const Ranges& ranges) {
  if (!x) return nullptr;
  const Shape& shape = ShapeOf(x);
  if (IsStatic(shape) || ranges.size() != shape.size()) {
    return EmitPairs(n, Op::kShrink, x, ranges);
  }
  // By key, the needed slices. Operands have lower ids than their users, so this order has them
  // first.
  struct Needed {
    Slice slice;
    std::vector<std::optional<Slice>> sources;
    const UOp* result = nullptr;
  };
  std::map<std::vector<int64_t>, Needed> needed;
  std::vector<Slice> stack{{x, ranges}};
  while (!stack.empty()) {
    const Slice slice = std::move(stack.back());
    stack.pop_back();
    const auto [at, is_new] = needed.try_emplace(KeyOf(slice.x, slice.ranges), Needed{slice, {}});
    if (!is_new || Contains(slice)) continue;
    auto sources = SourcesOf(slice);
    if (!sources || needed.size() > kMaxSlices) {
      // The run compares the extents.
      return EmitPairs(n, Op::kShrink, x, ranges);
    }
    for (const auto& source : *sources) {
      if (source) stack.push_back(*source);
    }
    at->second.sources = *std::move(sources);
  }
  for (auto& [key, at] : needed) {
    const Shape extents = ExtentsOf(at.slice);
    if (at.sources.empty()) {
      at.result = EmitPairs(n, Op::kShrink, at.slice.x, at.slice.ranges);
    } else {
      Nodes sources;
      for (size_t i = 0; i < at.sources.size(); ++i) {
        const auto& source = at.sources[i];
        sources.push_back(source ? needed.at(KeyOf(source->x, source->ranges)).result
                                 : at.slice.x->src(i));
      }
      at.result = EmitSlice(n, at.slice, sources);
    }
    if (!at.result) return nullptr;
    // (j + i) - j is not written as i.
    if (ShapeOf(at.result) != extents) return EmitPairs(n, Op::kShrink, x, ranges);
  }
  return needed.at(KeyOf(x, ranges)).result;
}

}  // namespace tg::tinygrad
