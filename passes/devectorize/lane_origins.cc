#include "passes/devectorize/lane_origins.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tg::devectorize {
namespace {

using Nodes = llvm::SmallVector<const UOp*, 16>;
using Ints = llvm::SmallVector<int64_t, 16>;

UOpSpan AsSpan(const Nodes& n) { return {n.data(), n.size()}; }
std::span<const int64_t> AsSpan(const Ints& n) { return {n.data(), n.size()}; }

// Whether `x` itself computes or loads all of its lanes.
bool IsOrigin(const UOp* x) { return IsElementwise(x->op) || x->op == Op::kLoad; }

const UOp* Extract(Builder& b, const LaneRef& r) {
  if (r.node->dtype.lanes() == 1) return r.node;
  const int64_t lane = r.lane;
  return b.Gep(r.node, std::span(&lane, 1));
}

// Finds the origins of the lanes of one vector. Consecutive requests are mostly for neighbouring
// lanes.
class Origins {
 public:
  Origins(Builder& b, const UOp* x) : b_(b), x_(x) {
    if (x->op != Op::kGep) return;
    picks_ = x->list();
    x_ = x->src(0);
  }
  LaneRef operator()(int64_t lane) {
    if (!picks_.empty()) lane = picks_[static_cast<size_t>(lane)];
    if (x_->op != Op::kCat) return OriginOf(b_, x_, static_cast<int>(lane));
    if (lane < start_) part_ = 0, start_ = 0;
    const UOp* of = x_->src(part_);
    while (lane >= start_ + of->dtype.lanes()) {
      start_ += of->dtype.lanes();
      of = x_->src(++part_);
    }
    const auto within = static_cast<int>(lane - start_);
    return IsOrigin(of) ? LaneRef{of, within} : OriginOf(b_, of, within);
  }

 private:
  Builder& b_;
  const UOp* x_;
  std::span<const int64_t> picks_;
  size_t part_ = 0;    // the part of a cat that has the lane of the previous request
  int64_t start_ = 0;  // the first lane of this part
};

// The listed lanes of `x`, which is an origin.
const UOp* Picked(Builder& b, const UOp* x, std::span<const int64_t> lanes) {
  const bool one =
      std::all_of(lanes.begin(), lanes.end(), [&](int64_t l) { return l == lanes[0]; });
  if (one)
    return b.Splat(Extract(b, {x, static_cast<int>(lanes[0])}), static_cast<int>(lanes.size()));
  return b.Gep(x, lanes);
}

}  // namespace

LaneRef OriginOf(Builder& b, const UOp* x, int lane) {
  for (;;) {
    switch (x->op) {
      case Op::kSplat:
        x = x->src(0);
        lane = 0;
        continue;
      case Op::kVectorize:
        x = x->src(static_cast<size_t>(lane));
        lane = 0;
        continue;
      case Op::kGep:
        lane = static_cast<int>(x->list()[static_cast<size_t>(lane)]);
        x = x->src(0);
        continue;
      case Op::kCat: {
        size_t i = 0;
        for (; lane >= x->src(i)->dtype.lanes(); ++i) lane -= x->src(i)->dtype.lanes();
        x = x->src(i);
        continue;
      }
      case Op::kVConst:
        return {b.ConstBits(x->dtype.WithLanes(1), x->list()[static_cast<size_t>(lane)]), 0};
      default:
        return {x, lane};
    }
  }
}

const UOp* Assemble(Builder& b, std::span<const LaneRef> lanes) {
  const size_t n = lanes.size();
  TG_CHECK(n > 0);
  if (n == 1) return Extract(b, lanes[0]);
  if (std::all_of(lanes.begin(), lanes.end(), [&](const LaneRef& r) { return r == lanes[0]; })) {
    return b.Splat(Extract(b, lanes[0]), static_cast<int>(n));
  }
  Ints picks;
  const auto pick = [&](std::span<const LaneRef> from) {
    picks.clear();
    for (const LaneRef& r : from) picks.push_back(r.lane);
    return b.Gep(from[0].node, AsSpan(picks));
  };
  if (std::all_of(lanes.begin(), lanes.end(),
                  [&](const LaneRef& r) { return r.node == lanes[0].node; })) {
    return pick(lanes);
  }
  if (std::all_of(lanes.begin(), lanes.end(), [](const LaneRef& r) { return IsConst(r.node); })) {
    Ints bits;
    for (const LaneRef& r : lanes) bits.push_back(r.node->word());
    return b.VConst(lanes[0].node->dtype.WithLanes(static_cast<int>(n)), AsSpan(bits));
  }
  // If all lanes of a node follow each other in order, the node becomes one part of the cat,
  // whatever its width. Other successive lanes of one node are picked in groups of a power of two.
  const auto is_whole = [&](size_t at) {
    const auto width = static_cast<size_t>(lanes[at].node->dtype.lanes());
    if (at + width > n) return false;
    for (size_t k = 0; k < width; ++k) {
      if (lanes[at + k] != LaneRef{lanes[at].node, static_cast<int>(k)}) return false;
    }
    return true;
  };
  Nodes parts;
  bool all_scalar = true;
  for (size_t i = 0; i < n;) {
    const UOp* node = lanes[i].node;
    size_t run = 1;
    if (is_whole(i)) {
      run = static_cast<size_t>(node->dtype.lanes());
      parts.push_back(node);
    } else {
      while (i + run < n && lanes[i + run].node == node && !is_whole(i + run)) ++run;
      run = std::bit_floor(run);
      parts.push_back(run == 1 ? Extract(b, lanes[i]) : pick(lanes.subspan(i, run)));
    }
    all_scalar &= run == 1;
    i += run;
  }
  return all_scalar ? b.Vectorize(AsSpan(parts)) : b.Cat(AsSpan(parts));
}

bool IsConsecutive(std::span<const int64_t> lanes) {
  for (size_t i = 1; i < lanes.size(); ++i) {
    if (lanes[i] != lanes[i - 1] + 1) return false;
  }
  return true;
}

const UOp* PickLanes(Builder& b, const UOp* x, std::span<const int64_t> lanes) {
  if (x->op == Op::kCat && IsConsecutive(lanes)) {
    return Slice(b, x, static_cast<int>(lanes[0]), static_cast<int>(lanes.size()));
  }
  if (x->op == Op::kVConst) {
    Ints bits;
    for (int64_t l : lanes) bits.push_back(x->list()[static_cast<size_t>(l)]);
    return b.VConst(x->dtype.WithLanes(static_cast<int>(lanes.size())), AsSpan(bits));
  }
  if (IsOrigin(x)) return Picked(b, x, lanes);
  if (x->op == Op::kGep && IsOrigin(x->src(0))) {
    Ints picks;
    for (int64_t l : lanes) picks.push_back(x->list()[static_cast<size_t>(l)]);
    return Picked(b, x->src(0), AsSpan(picks));
  }
  Origins origin(b, x);
  LaneRefs refs;
  refs.reserve(lanes.size());
  for (int64_t l : lanes) refs.push_back(origin(l));
  return Assemble(b, {refs.data(), refs.size()});
}

const UOp* Slice(Builder& b, const UOp* x, int first, int n) {
  // If one part of a concatenation contains all the lanes, continues with that part.
  while (x->op == Op::kCat) {
    size_t i = 0;
    int at = first;
    while (at >= x->src(i)->dtype.lanes()) at -= x->src(i++)->dtype.lanes();
    if (at + n > x->src(i)->dtype.lanes()) break;
    x = x->src(i);
    first = at;
  }
  if (n == x->dtype.lanes() && (n == 1 || IsOrigin(x))) return x;
  if (x->op == Op::kSplat && IsOrigin(x->src(0))) return b.Splat(x->src(0), n);
  if (IsOrigin(x)) {
    Ints picks;
    for (int i = 0; i < n; ++i) picks.push_back(first + i);
    return b.Gep(x, AsSpan(picks));
  }
  if (x->op == Op::kVConst) {
    return b.VConst(x->dtype.WithLanes(n),
                    x->list().subspan(static_cast<size_t>(first), static_cast<size_t>(n)));
  }
  if (x->op == Op::kGep && IsOrigin(x->src(0))) {
    return Picked(b, x->src(0),
                  x->list().subspan(static_cast<size_t>(first), static_cast<size_t>(n)));
  }
  Origins origin(b, x);
  LaneRefs refs;
  for (int i = 0; i < n; ++i) refs.push_back(origin(first + i));
  return Assemble(b, {refs.data(), refs.size()});
}

const UOp* Concat(Builder& b, UOpSpan parts) {
  if (parts.size() == 1) return parts[0];
  const auto whole = [](const UOp* p) { return IsOrigin(p) && p->dtype.lanes() > 1; };
  if (parts[0] != parts[1] && std::all_of(parts.begin(), parts.end(), whole)) return b.Cat(parts);
  LaneRefs refs;
  for (const UOp* p : parts) {
    Origins origin(b, p);
    for (int i = 0; i < p->dtype.lanes(); ++i) refs.push_back(origin(i));
  }
  return Assemble(b, {refs.data(), refs.size()});
}

const UOp* Uniform(Builder& b, const UOp* x) {
  const int n = x->dtype.lanes();
  if (n == 1) return x;
  if (x->op == Op::kSplat) return x->src(0);
  if (x->op == Op::kVConst) {
    const auto bits = x->list();
    return std::all_of(bits.begin(), bits.end(), [&](int64_t l) { return l == bits[0]; })
               ? b.ConstBits(x->dtype.WithLanes(1), bits[0])
               : nullptr;
  }
  const LaneRef first = OriginOf(b, x, 0);
  for (int i = 1; i < n; ++i) {
    if (OriginOf(b, x, i) != first) return nullptr;
  }
  return Extract(b, first);
}

}  // namespace tg::devectorize
