#include "passes/simplify/lanes.h"

#include <algorithm>

#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/build.h"

namespace tg {
namespace {

using Nodes = llvm::SmallVector<const UOp*, 16>;
UOpSpan Span(const Nodes& v) { return {v.data(), v.size()}; }

// A list attribute: its length and its items.
using List = llvm::SmallVector<int64_t, 32>;
List EmptyList() { return {0}; }
void Append(List& list, std::span<const int64_t> items) {
  list.append(items.begin(), items.end());
  list[0] += static_cast<int64_t>(items.size());
}
void Append(List& list, int64_t item) { Append(list, {&item, 1}); }
// These lanes of a list's items.
List Picked(std::span<const int64_t> items, std::span<const int64_t> lanes) {
  List out = {static_cast<int64_t>(lanes.size())};
  for (int64_t i : lanes) out.push_back(items[static_cast<size_t>(i)]);
  return out;
}
std::span<const int64_t> Span(const List& list) { return {list.data(), list.size()}; }

const UOp* Vectorize(RuleContext& rc, const Nodes& scalars) {
  if (scalars.size() == 1) return scalars[0];
  const DType t = scalars[0]->dtype.WithLanes(static_cast<int>(scalars.size()));
  return rc.ctx.Make(Op::kVectorize, t, Span(scalars));
}

const UOp* Splat(RuleContext& rc, const UOp* x, int lanes) {
  return lanes == 1 ? x : rc.ctx.Make(Op::kSplat, x->dtype.WithLanes(lanes), {x});
}

const UOp* Constants(RuleContext& rc, DType type, const List& bits) {
  if (bits[0] == 1) return UniformConst(rc.ctx, type.WithLanes(1), bits[1]);
  return rc.ctx.Make(Op::kVConst, type.WithLanes(static_cast<int>(bits[0])), {},
                     rc.ctx.MakeAttr(Op::kVConst, Span(bits)));
}

const UOp* Gep(RuleContext& rc, const UOp* x, const List& lanes) {
  return rc.ctx.Make(Op::kGep, x->dtype.WithLanes(static_cast<int>(lanes[0])), {x},
                     rc.ctx.MakeAttr(Op::kGep, Span(lanes)));
}

// A gep of it disappears.
bool HasKnownLanes(const UOp* u) {
  return u->op == Op::kVectorize || u->op == Op::kSplat || u->op == Op::kVConst;
}

// One gep of what all of `parts` are lanes of; null where there is no such vector.
const UOp* LanesOfOne(RuleContext& rc, UOpSpan parts) {
  List lanes = EmptyList();
  for (const UOp* p : parts) {
    if (p->op != Op::kGep || p->src(0) != parts[0]->src(0)) return nullptr;
    Append(lanes, p->list());
  }
  return Gep(rc, parts[0]->src(0), lanes);
}

}  // namespace

const UOp* FoldGep(const UOp* u, RuleContext& rc) {
  const UOp* x = u->src(0);
  const auto lanes = u->list();
  if (!x->dtype.is_value()) return nullptr;
  bool identity = static_cast<size_t>(x->dtype.lanes()) == lanes.size();
  for (size_t i = 0; i < lanes.size() && identity; ++i) {
    identity = lanes[i] == static_cast<int64_t>(i);
  }
  if (identity) return x;
  switch (x->op) {
    case Op::kVConst:
      return Constants(rc, x->dtype, Picked(x->list(), lanes));
    case Op::kSplat:
      return Splat(rc, x->src(0), static_cast<int>(lanes.size()));
    case Op::kVectorize: {
      Nodes picked;
      for (int64_t i : lanes) picked.push_back(x->src(static_cast<size_t>(i)));
      return Vectorize(rc, picked);
    }
    case Op::kGep:
      return Gep(rc, x->src(0), Picked(x->list(), lanes));
    case Op::kCat: {
      int64_t first = 0;
      for (const UOp* part : x->srcs()) {
        const int64_t n = part->dtype.lanes();
        const auto inside = [&](int64_t i) { return i >= first && i < first + n; };
        if (std::all_of(lanes.begin(), lanes.end(), inside)) {
          List inner = EmptyList();
          for (int64_t i : lanes) Append(inner, i - first);
          return n == 1 ? Splat(rc, part, static_cast<int>(lanes.size())) : Gep(rc, part, inner);
        }
        first += n;
      }
      return nullptr;
    }
    default:
      break;
  }
  if (!IsElementwise(x->op)) return nullptr;
  Nodes srcs;
  for (const UOp* s : x->srcs()) {
    if (!HasKnownLanes(s)) return nullptr;
    const DType type = s->dtype.WithLanes(u->dtype.lanes());
    srcs.push_back(rc.ctx.Make(Op::kGep, type, {s}, u->attr));
  }
  return rc.ctx.Make(x->op, u->dtype, Span(srcs), x->attr);
}

const UOp* FoldVectorize(const UOp* u, RuleContext& rc) {
  if (u->num_srcs == 1) return u->src(0);
  if (!u->dtype.is_value()) return nullptr;
  const auto all = [&](auto f) { return std::all_of(u->srcs().begin(), u->srcs().end(), f); };
  if (all([](const UOp* s) { return s->op == Op::kConst; })) {
    List bits = EmptyList();
    for (const UOp* s : u->srcs()) Append(bits, s->word());
    return Constants(rc, u->dtype, bits);
  }
  if (all([&](const UOp* s) { return s == u->src(0); })) {
    return Splat(rc, u->src(0), u->dtype.lanes());
  }
  return LanesOfOne(rc, u->srcs());
}

const UOp* FoldCat(const UOp* u, RuleContext& rc) {
  if (u->num_srcs == 1) return u->src(0);
  if (!u->dtype.is_value()) return nullptr;
  const auto all = [&](auto f) { return std::all_of(u->srcs().begin(), u->srcs().end(), f); };
  if (all([](const UOp* s) { return s->op == Op::kVConst || s->op == Op::kConst; })) {
    List bits = EmptyList();
    for (const UOp* s : u->srcs()) {
      s->op == Op::kConst ? Append(bits, s->word()) : Append(bits, s->list());
    }
    return Constants(rc, u->dtype, bits);
  }
  const auto scalar_of = [](const UOp* s) { return s->op == Op::kSplat ? s->src(0) : s; };
  const UOp* scalar = scalar_of(u->src(0));
  if (scalar->dtype.lanes() == 1 && all([&](const UOp* s) { return scalar_of(s) == scalar; })) {
    return Splat(rc, scalar, u->dtype.lanes());
  }
  const bool nested = !all([](const UOp* s) { return s->op != Op::kCat; });
  if (nested) {
    Nodes flat;
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
    Nodes flat;
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

const UOp* FoldSplat(const UOp* u, RuleContext& rc) {
  if (u->dtype.lanes() == 1) return u->src(0);
  if (!u->dtype.is_value() || !IsConst(u->src(0))) return nullptr;
  return UniformConst(rc.ctx, u->dtype, u->src(0)->word());
}

const UOp* FoldOpOfSplats(const UOp* u, RuleContext& rc) {
  const int lanes = u->dtype.lanes();
  if (lanes == 1 || !u->dtype.is_value()) return nullptr;
  Nodes srcs;
  for (const UOp* s : u->srcs()) {
    if (s->op == Op::kSplat) {
      srcs.push_back(s->src(0));
    } else if (const auto bits = UniformBits(s); bits && s->dtype.is_value()) {
      srcs.push_back(UniformConst(rc.ctx, s->dtype.WithLanes(1), *bits));
    } else {
      return nullptr;
    }
  }
  return Splat(rc, rc.ctx.Make(u->op, u->dtype.WithLanes(1), Span(srcs), u->attr), lanes);
}

}  // namespace tg
