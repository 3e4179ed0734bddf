#include "passes/simplify/lane_ops.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/build.h"

namespace tg::simplify {
namespace {

using LaneNodes = llvm::SmallVector<const UOp*, 16>;
using Ints = llvm::SmallVector<int64_t, 32>;
UOpSpan Span(const LaneNodes& v) { return {v.data(), v.size()}; }
std::span<const int64_t> Span(const Ints& v) { return {v.data(), v.size()}; }

// The elements of `items` at the positions in `lanes`.
Ints Picked(std::span<const int64_t> items, std::span<const int64_t> lanes) {
  Ints picked;
  picked.resize_for_overwrite(lanes.size());
  for (size_t i = 0; i < lanes.size(); ++i) picked[i] = items[static_cast<size_t>(lanes[i])];
  return picked;
}

const UOp* Vectorize(rewrite::RuleContext& rc, const LaneNodes& scalars) {
  if (scalars.size() == 1) return scalars[0];
  const DType t = scalars[0]->dtype.WithLanes(static_cast<int>(scalars.size()));
  return rc.ctx.Make(Op::kVectorize, t, Span(scalars));
}

const UOp* Splat(rewrite::RuleContext& rc, const UOp* x, int lanes) {
  return lanes == 1 ? x : rc.ctx.Make(Op::kSplat, x->dtype.WithLanes(lanes), {x});
}

const UOp* Constants(rewrite::RuleContext& rc, DType type, std::span<const int64_t> bits) {
  if (bits.size() == 1) return rewrite::UniformConst(rc.ctx, type.WithLanes(1), bits[0]);
  return rc.ctx.Make(Op::kVConst, type.WithLanes(static_cast<int>(bits.size())), {},
                     rc.ctx.MakeListAttr(Op::kVConst, bits));
}

const UOp* Gep(rewrite::RuleContext& rc, const UOp* x, std::span<const int64_t> lanes) {
  return rc.ctx.Make(Op::kGep, x->dtype.WithLanes(static_cast<int>(lanes.size())), {x},
                     rc.ctx.MakeListAttr(Op::kGep, lanes));
}

// Whether the lanes of `u` are known, so that a gep of it can be removed.
bool HasKnownLanes(const UOp* u) {
  return u->op == Op::kVectorize || u->op == Op::kSplat || u->op == Op::kVConst;
}

// If all `parts` are lanes of one vector: one gep of it. Otherwise null.
const UOp* LanesOfOne(rewrite::RuleContext& rc, UOpSpan parts) {
  Ints lanes;
  for (const UOp* p : parts) {
    if (p->op != Op::kGep || p->src(0) != parts[0]->src(0)) return nullptr;
    lanes.append(p->list().begin(), p->list().end());
  }
  return Gep(rc, parts[0]->src(0), Span(lanes));
}

}  // namespace

const UOp* FoldGep(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* x = u->src(0);
  const auto lanes = u->list();
  if (!x->dtype.is_value()) return nullptr;
  size_t in_place = 0;
  while (in_place < lanes.size() && lanes[in_place] == static_cast<int64_t>(in_place)) ++in_place;
  if (in_place == lanes.size() && static_cast<size_t>(x->dtype.lanes()) == in_place) return x;
  switch (x->op) {
    case Op::kVConst:
      return Constants(rc, x->dtype, Span(Picked(x->list(), lanes)));
    case Op::kSplat:
      return Splat(rc, x->src(0), static_cast<int>(lanes.size()));
    case Op::kVectorize: {
      LaneNodes picked;
      for (int64_t i : lanes) picked.push_back(x->src(static_cast<size_t>(i)));
      return Vectorize(rc, picked);
    }
    case Op::kGep:
      return Gep(rc, x->src(0), Span(Picked(x->list(), lanes)));
    case Op::kCat: {
      int64_t first = 0;
      for (const UOp* part : x->srcs()) {
        const int64_t n = part->dtype.lanes();
        const auto inside = [&](int64_t i) { return i >= first && i < first + n; };
        if (std::all_of(lanes.begin(), lanes.end(), inside)) {
          if (n == 1) return Splat(rc, part, static_cast<int>(lanes.size()));
          Ints inner;
          for (int64_t i : lanes) inner.push_back(i - first);
          return Gep(rc, part, Span(inner));
        }
        first += n;
      }
      return nullptr;
    }
    default:
      break;
  }
  if (!IsElementwise(x->op)) return nullptr;
  LaneNodes srcs;
  for (const UOp* s : x->srcs()) {
    if (!HasKnownLanes(s)) return nullptr;
    const DType type = s->dtype.WithLanes(u->dtype.lanes());
    srcs.push_back(rc.ctx.Make(Op::kGep, type, {s}, u->attr));
  }
  return rc.ctx.Make(x->op, u->dtype, Span(srcs), x->attr);
}

const UOp* FoldVectorize(const UOp* u, rewrite::RuleContext& rc) {
  if (u->num_srcs == 1) return u->src(0);
  if (!u->dtype.is_value()) return nullptr;
  const auto all = [&](auto f) { return std::all_of(u->srcs().begin(), u->srcs().end(), f); };
  if (all([](const UOp* s) { return s->op == Op::kConst; })) {
    Ints bits;
    for (const UOp* s : u->srcs()) bits.push_back(s->word());
    return Constants(rc, u->dtype, Span(bits));
  }
  if (all([&](const UOp* s) { return s == u->src(0); })) {
    return Splat(rc, u->src(0), u->dtype.lanes());
  }
  return LanesOfOne(rc, u->srcs());
}

const UOp* FoldCat(const UOp* u, rewrite::RuleContext& rc) {
  if (u->num_srcs == 1) return u->src(0);
  if (!u->dtype.is_value()) return nullptr;
  const auto all = [&](auto f) { return std::all_of(u->srcs().begin(), u->srcs().end(), f); };
  if (all([](const UOp* s) { return s->op == Op::kVConst || s->op == Op::kConst; })) {
    Ints bits;
    for (const UOp* s : u->srcs()) {
      if (s->op == Op::kConst) bits.push_back(s->word());
      if (s->op == Op::kVConst) bits.append(s->list().begin(), s->list().end());
    }
    return Constants(rc, u->dtype, Span(bits));
  }
  const auto scalar_of = [](const UOp* s) { return s->op == Op::kSplat ? s->src(0) : s; };
  const UOp* scalar = scalar_of(u->src(0));
  if (scalar->dtype.lanes() == 1 && all([&](const UOp* s) { return scalar_of(s) == scalar; })) {
    return Splat(rc, scalar, u->dtype.lanes());
  }
  const bool nested = !all([](const UOp* s) { return s->op != Op::kCat; });
  if (nested) {
    LaneNodes flat;
    for (const UOp* s : u->srcs()) {
      if (s->op == Op::kCat) {
        flat.append(s->srcs().begin(), s->srcs().end());
      } else {
        flat.push_back(s);
      }
    }
    return rc.ctx.Make(Op::kCat, u->dtype, Span(flat));
  }
  if (all([](const UOp* s) { return s->op == Op::kVectorize || s->dtype.lanes() == 1; })) {
    LaneNodes flat;
    for (const UOp* s : u->srcs()) {
      if (s->dtype.lanes() == 1) {
        flat.push_back(s);
      } else {
        flat.append(s->srcs().begin(), s->srcs().end());
      }
    }
    return Vectorize(rc, flat);
  }
  return LanesOfOne(rc, u->srcs());
}

const UOp* FoldSplat(const UOp* u, rewrite::RuleContext& rc) {
  if (u->dtype.lanes() == 1) return u->src(0);
  if (!u->dtype.is_value() || !IsConst(u->src(0))) return nullptr;
  return rewrite::UniformConst(rc.ctx, u->dtype, u->src(0)->word());
}

const UOp* FoldOpOfSplats(const UOp* u, rewrite::RuleContext& rc) {
  const int lanes = u->dtype.lanes();
  if (lanes == 1 || !u->dtype.is_value()) return nullptr;
  LaneNodes srcs;
  for (const UOp* s : u->srcs()) {
    if (s->op == Op::kSplat) {
      srcs.push_back(s->src(0));
    } else if (const auto bits = rewrite::UniformBits(s); bits && s->dtype.is_value()) {
      srcs.push_back(rewrite::UniformConst(rc.ctx, s->dtype.WithLanes(1), *bits));
    } else {
      return nullptr;
    }
  }
  return Splat(rc, rc.ctx.Make(u->op, u->dtype.WithLanes(1), Span(srcs), u->attr), lanes);
}

}  // namespace tg::simplify
