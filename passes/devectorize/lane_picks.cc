#include "passes/devectorize/lane_picks.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "llvm/ADT/STLExtras.h"
#include "passes/decompose/forward.h"
#include "passes/devectorize/lane_folder.h"
#include "passes/devectorize/lane_places.h"
#include "passes/devectorize/lanes.h"
#include "passes/devectorize/width.h"

namespace tg {
namespace {

using View = llvm::SmallVector<int64_t, 16>;
std::span<const int64_t> Span(const View& v) { return {v.data(), v.size()}; }

// How a node is used.
struct Uses {
  std::vector<View> views;
  bool whole = false;  // some use takes all lanes as they are

  void Add(const View& v) {
    const auto same = [&](const View& w) { return w[0] == v[0] && w == v; };
    if (llvm::none_of(views, same)) views.push_back(v);
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

// Whether `v` is what whole registers of `width` lanes hold: no shuffle.
bool IsRegisters(const View& v, int width) {
  const auto w = static_cast<size_t>(width);
  if (v.size() % w != 0 || v[0] % width != 0) return false;
  for (size_t i = 1; i < v.size(); ++i) {
    if (v[i] != v[i - 1] + 1) return false;
  }
  return true;
}

View Compose(std::span<const int64_t> outer, const View& view) {
  View out;
  for (int64_t l : view) out.push_back(outer[static_cast<size_t>(l)]);
  return out;
}

// Whether a view of constants that differ holds one of them only: what is done with it may fold.
bool BecomesOne(const UOp* constants, const View& v) {
  const auto all = constants->list();
  const auto bits = [&](int64_t l) { return all[static_cast<size_t>(l)]; };
  return llvm::any_of(all, [&](int64_t c) { return c != all[0]; }) &&
         llvm::all_of(v, [&](int64_t l) { return bits(l) == bits(v[0]); });
}

// Whether ops on the views of `u`, over picked sources, cost no more than one op whose result is
// picked from: in ops and shuffles of registers of `width` lanes. Not where there is nothing to
// pick once the op is cut.
bool PaysToSink(const UOp* u, const std::vector<View>& views, LanePlaces& places, int width) {
  if (width == 1) return true;  // lanes are registers of their own
  if (llvm::all_of(views, [&](const View& v) { return IsRegisters(v, width); })) return false;
  const auto registers = [&](size_t lanes) {
    return static_cast<int>((lanes + static_cast<size_t>(width) - 1) / static_cast<size_t>(width));
  };
  View all(static_cast<size_t>(u->dtype.lanes()));
  std::iota(all.begin(), all.end(), 0);
  const llvm::SmallVector<int32_t, 64> side_by_side(all.begin(), all.end());
  int keep = registers(all.size()), sink = 0;
  for (const View& v : views) {
    keep += Shuffles(side_by_side, Span(v), width);
    sink += registers(v.size());
  }
  for (const UOp* s : u->srcs()) {
    const auto becomes_one = [&](const View& v) { return BecomesOne(s, v); };
    if (s->op == Op::kVConst && llvm::any_of(views, becomes_one)) return true;
    const Places stand = places.Of(s);
    keep += Shuffles(stand, Span(all), width);
    for (const View& v : views) sink += Shuffles(stand, Span(v), width);
  }
  return sink <= keep;
}

}  // namespace

void SinkLanePicks(Body& body, const Module& module, const Target& target, UOpSpan order) {
  const auto picks = [](const UOp* u) { return u->op == Op::kGep; };
  if (std::none_of(order.begin(), order.end(), picks)) return;
  LanePlaces places;
  NodeMap<int> place;
  std::vector<Uses> uses(order.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  const auto uses_of = [&](const UOp* u) -> Uses& {
    return uses[static_cast<size_t>(place.Get(u))];
  };
  // Users before sources: what is wanted of each node.
  bool sinks = false;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const UOp* u = *it;
    Uses& mine = uses_of(u);
    const int n = u->dtype.lanes();
    const bool can_split = n > 1 && !mine.whole && IsElementwise(u->op) && u->dtype.is_value();
    const int width = can_split ? AluLanes(target, u) : 0;
    if (can_split && mine.Disjoint(n, width) && PaysToSink(u, mine.views, places, width)) {
      sinks = true;
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
  if (!sinks) return;

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

}  // namespace tg
