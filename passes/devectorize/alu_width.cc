#include "passes/devectorize/alu_width.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "passes/decompose/forward.h"
#include "passes/devectorize/lanes.h"
#include "passes/devectorize/width.h"
#include "passes/rewrite/rule_context.h"
#include "passes/simplify/simplify.h"

namespace tg {
namespace {

// Folds what is a constant in some lanes only, and so became one by being cut: the first lane of
// x + [0, 1, 2, 3], or a choice by [false, true]; and what uses that. Nothing else is looked at:
// simplify has been here.
class LaneFolder {
 public:
  LaneFolder(Context& ctx, const Module& module) : ctx_(ctx), module_(module) {}

  // `made` is of what `u` was before.
  const UOp* operator()(const UOp* u, const UOp* made) {
    if (!IsElementwise(made->op) || !made->dtype.is_value()) return made;
    bool is_new = false, all = true, uses_new = false;
    for (size_t i = 0; i < made->num_srcs; ++i) {
      const bool is_constant = UniformBits(made->src(i)).has_value();
      is_new |= is_constant && !UniformBits(u->src(i));
      all &= is_constant;
      uses_new |= folded_.Contains(made->src(i));
    }
    // Of divisions and powers the rules make what steps before this one have rewritten.
    const bool divides = made->op == Op::kDiv || made->op == Op::kCDiv || made->op == Op::kCMod;
    if (!(is_new || uses_new) || (!all && (divides || made->op == Op::kPow))) return made;
    if (!simplifier_) simplifier_.emplace(ctx_, &module_);
    const UOp* simple = simplifier_->Top(made);
    if (is_new || simple != made) folded_.Insert(simple);
    return simple;
  }

 private:
  Context& ctx_;
  const Module& module_;
  std::optional<Simplifier> simplifier_;
  NodeSet folded_;  // what it has made, or looked at for a new constant
};

// What an elementwise op is cut to: what its widest scalar allows. bool adapts to the others.
int LanesFor(const Target& target, const UOp* u) {
  int lanes = kMaxLanes;
  bool only_bool = true;
  const auto consider = [&](DType t) {
    if (t.is_bool() || t.is_void()) return;
    only_bool = false;
    lanes = std::min(lanes, AluLanes(target, t.scalar()));
  };
  consider(u->dtype);
  for (const UOp* s : u->srcs()) consider(s->dtype);
  return only_bool ? AluLanes(target, Scalar::kF32) : lanes;
}

const UOp* CutOne(Builder& b, Body& body, const Target& target, LaneFolder& fold, const UOp* u,
                  UOpSpan srcs) {
  const int n = u->dtype.lanes();
  Nodes uniform;
  for (const UOp* s : srcs) {
    if (const UOp* x = Uniform(b, s)) uniform.push_back(x);
  }
  if (uniform.size() == srcs.size()) {
    const UOp* one = b.context().Make(u->op, u->dtype.WithLanes(1), Span(uniform), u->attr);
    return b.Splat(fold(u, one), n);
  }
  const auto widest = static_cast<unsigned>(LanesFor(target, u));
  Nodes parts;
  for (int at = 0; at < n;) {
    const auto left = static_cast<unsigned>(n - at);
    const auto width = static_cast<int>(std::bit_floor(std::min(left, widest)));
    Nodes pieces;
    bool same = true;
    for (const UOp* s : srcs) {
      pieces.push_back(Slice(b, s, at, width));
      same &= Uniform(b, pieces.back()) != nullptr;
    }
    if (same && width > 1) {
      for (const UOp*& p : pieces) p = Uniform(b, p);
      const UOp* one = b.context().Make(u->op, u->dtype.WithLanes(1), Span(pieces), u->attr);
      parts.push_back(b.Splat(fold(u, one), width));
    } else {
      const UOp* made = b.context().Make(u->op, u->dtype.WithLanes(width), Span(pieces), u->attr);
      parts.push_back(fold(u, made));
      if (parts.back() == made) body.CarryOver(u, made);
    }
    at += width;
  }
  return Concat(b, Span(parts));
}

// ---- SinkLanePicks

using View = llvm::SmallVector<int64_t, 16>;
std::span<const int64_t> Span(const View& v) { return {v.data(), v.size()}; }

// How a node is used.
struct Uses {
  std::vector<View> views;
  bool whole = false;  // some use takes all lanes as they are

  void Add(const View& v) {
    for (const View& w : views) {
      if (w == v) return;
    }
    views.push_back(v);
  }
  // No lane is in two views, and each is worth an op of its own: a whole vector of `enough` lanes,
  // or lanes that would have to be shuffled together.
  bool Disjoint(int lanes, int enough) const {
    std::vector<bool> taken(static_cast<size_t>(lanes));
    for (const View& v : views) {
      const bool slice = v.back() - v.front() == static_cast<int64_t>(v.size()) - 1;
      if (static_cast<int>(v.size()) < (slice ? enough : std::min(enough, 2))) return false;
      for (int64_t l : v) {
        if (taken[static_cast<size_t>(l)]) return false;
        taken[static_cast<size_t>(l)] = true;
      }
    }
    return true;
  }
};

View Compose(std::span<const int64_t> outer, const View& view) {
  View out;
  for (int64_t l : view) out.push_back(outer[static_cast<size_t>(l)]);
  return out;
}

}  // namespace

void SinkLanePicks(Body& body, const Module& module, const Target& target) {
  const std::vector<const UOp*> order = PostOrder(body.root);
  const auto picks = [](const UOp* u) { return u->op == Op::kGep; };
  if (std::none_of(order.begin(), order.end(), picks)) return;
  NodeMap<int> place;
  std::vector<Uses> uses(order.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  const auto uses_of = [&](const UOp* u) -> Uses& {
    return uses[static_cast<size_t>(place.Get(u))];
  };
  // Users before sources: what is wanted of each node.
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const UOp* u = *it;
    Uses& mine = uses_of(u);
    const int n = u->dtype.lanes();
    const bool can_split = IsElementwise(u->op) && u->dtype.is_value() && n > 1;
    if (can_split && !mine.whole && mine.Disjoint(n, LanesFor(target, u))) {
      for (const View& v : mine.views) {
        for (const UOp* s : u->srcs()) uses_of(s).Add(v);
      }
      continue;
    }
    if (u->op == Op::kGep) {
      if (mine.whole) uses_of(u->src(0)).Add(View(u->list().begin(), u->list().end()));
      for (const View& v : mine.views) uses_of(u->src(0)).Add(Compose(u->list(), v));
      continue;
    }
    mine.views.clear();
    mine.whole = true;
    for (const UOp* s : u->srcs()) uses_of(s).whole = true;
  }

  Builder b(*body.context);
  LaneFolder fold(*body.context, module);
  NodeMap<const UOp*> whole;  // the node with all its lanes, where some use wants that
  std::vector<std::vector<const UOp*>> by_view(order.size());
  const auto view_of = [&](const UOp* u, const View& v) {
    const auto at = static_cast<size_t>(place.Get(u));
    for (size_t i = 0; i < by_view[at].size(); ++i) {
      if (uses[at].views[i] == v) return by_view[at][i];
    }
    return PickLanes(b, whole.Get(u), Span(v));
  };
  for (size_t i = 0; i < order.size(); ++i) {
    const UOp* u = order[i];
    const Uses& mine = uses[i];
    Nodes srcs;
    if (u->op == Op::kGep) {
      if (mine.whole) whole[u] = view_of(u->src(0), View(u->list().begin(), u->list().end()));
      for (const View& v : mine.views) {
        by_view[i].push_back(view_of(u->src(0), Compose(u->list(), v)));
      }
      continue;
    }
    if (!mine.whole && !mine.views.empty()) {
      for (const View& v : mine.views) {
        srcs.clear();
        for (const UOp* s : u->srcs()) srcs.push_back(view_of(s, v));
        const DType t = u->dtype.WithLanes(static_cast<int>(v.size()));
        const UOp* made = b.context().Make(u->op, t, Span(srcs), u->attr);
        by_view[i].push_back(fold(u, made));
        if (by_view[i].back() == made) body.CarryOver(u, made);
      }
      continue;
    }
    for (const UOp* s : u->srcs()) srcs.push_back(whole.Get(s));
    if (u->op == Op::kSplat) {
      whole[u] = b.Splat(srcs[0], u->dtype.lanes());
    } else if (u->op == Op::kVectorize || u->op == Op::kCat) {
      whole[u] = Concat(b, Span(srcs));
    } else {
      whole[u] = fold(u, WithSources(b, u, Span(srcs)));
    }
    body.CarryOver(u, whole.Get(u));
  }
  body.root = whole.Get(body.root);
}

void CutArithmetic(Body& body, const Module& module, const Target& target) {
  Builder b(*body.context);
  LaneFolder fold(*body.context, module);
  ForwardRewrite(body, [&](const UOp* u, UOpSpan srcs) -> const UOp* {
    switch (u->op) {
      case Op::kSplat:
        return b.Splat(srcs[0], u->dtype.lanes());
      case Op::kVectorize:
      case Op::kCat:
        return Concat(b, srcs);
      case Op::kGep:
        return PickLanes(b, srcs[0], u->list());
      default:
        if (u->dtype.is_value() && u->dtype.lanes() > 1 && IsElementwise(u->op)) {
          return CutOne(b, body, target, fold, u, srcs);
        }
        return fold(u, WithSources(b, u, srcs));
    }
  });
}

}  // namespace tg
