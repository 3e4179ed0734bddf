#include "passes/devectorize/alu_width.h"

#include <algorithm>
#include <bit>

#include "passes/devectorize/lane_folder.h"
#include "passes/devectorize/lane_origins.h"
#include "passes/devectorize/lane_picks.h"
#include "passes/devectorize/width.h"
#include "passes/legalize/forward.h"

namespace tg::devectorize {
namespace {

// The value of the op `u` on `n` of its lanes, given these lanes of its sources as `srcs`: ops of
// at most the target's width, concatenated.
const UOp* CutOne(Builder& b, Body& body, const passes::Target& target, LaneFolder& fold,
                  const UOp* u, UOpSpan srcs, int n) {
  legalize::Nodes uniform;
  for (const UOp* s : srcs) {
    if (const UOp* x = Uniform(b, s)) uniform.push_back(x);
  }
  if (uniform.size() == srcs.size()) {
    const UOp* one =
        b.context().Make(u->op, u->dtype.WithLanes(1), legalize::Span(uniform), u->attr);
    return b.Splat(fold(u, one), n);
  }
  const auto widest = static_cast<unsigned>(AluLanes(target, u));
  legalize::Nodes parts;
  for (int at = 0; at < n;) {
    const auto left = static_cast<unsigned>(n - at);
    const auto width = static_cast<int>(std::bit_floor(std::min(left, widest)));
    legalize::Nodes pieces;
    bool same = true;
    for (const UOp* s : srcs) {
      pieces.push_back(Slice(b, s, at, width));
      same = same && Uniform(b, pieces.back()) != nullptr;
    }
    if (same && width > 1) {
      for (const UOp*& p : pieces) p = Uniform(b, p);
      const UOp* one =
          b.context().Make(u->op, u->dtype.WithLanes(1), legalize::Span(pieces), u->attr);
      parts.push_back(b.Splat(fold(u, one), width));
    } else {
      const UOp* made =
          b.context().Make(u->op, u->dtype.WithLanes(width), legalize::Span(pieces), u->attr);
      parts.push_back(fold(u, made));
      if (parts.back() == made) body.CarryOver(u, made);
    }
    at += width;
  }
  return Concat(b, legalize::Span(parts));
}

// Work-items exchange vectors of powers of two, concatenated.
const UOp* CutShuffle(Builder& b, const UOp* u, const UOp* x, const UOp* from) {
  legalize::Nodes parts;
  for (int at = 0; at < u->dtype.lanes();) {
    const int left = std::min(u->dtype.lanes() - at, kMaxLanes);
    const auto width = static_cast<int>(std::bit_floor(static_cast<unsigned>(left)));
    const UOp* const sources[] = {Slice(b, x, at, width), from};
    parts.push_back(b.context().Make(u->op, u->dtype.WithLanes(width), sources, u->attr));
    at += width;
  }
  return Concat(b, legalize::Span(parts));
}

}  // namespace

void CutArithmetic(Body& body, const Module& module, const passes::Target& target, UOpSpan order) {
  Builder b(*body.context);
  LaneFolder fold(*body.context, module);
  const LanePicks lane_picks(order, target);
  // Replacements of nodes that are computed as a whole.
  NodeMap<const UOp*> whole;
  whole.Reserve(order.back()->id + 1);
  std::vector<llvm::SmallVector<const UOp*, 4>> picked(lane_picks.any() ? lane_picks.size() : 0);
  const auto pick_of = [&](const UOp* u, const LanePick& pick) {
    const uint32_t at = lane_picks.NumberOf(u);
    for (size_t i = 0; i < picked[at].size(); ++i) {
      if (lane_picks[at].picks[i] == pick) return picked[at][i];
    }
    return PickLanes(b, whole.Get(u), Span(pick));
  };
  legalize::Nodes srcs;
  for (const UOp* u : order) {
    const uint32_t number = lane_picks.any() ? lane_picks.NumberOf(u) : 0;
    if (number != 0) {
      const WantedLanes& wanted = lane_picks[number];
      for (const LanePick& pick : wanted.picks) {
        if (u->op == Op::kGep) {
          picked[number].push_back(pick_of(u->src(0), Compose(u->list(), pick)));
          continue;
        }
        srcs.clear();
        for (const UOp* s : u->srcs()) srcs.push_back(pick_of(s, pick));
        picked[number].push_back(
            CutOne(b, body, target, fold, u, legalize::Span(srcs), static_cast<int>(pick.size())));
      }
      if (!wanted.whole) continue;
      if (u->op == Op::kGep) {
        whole[u] = pick_of(u->src(0), LanePick(u->list().begin(), u->list().end()));
        body.CarryOver(u, whole.Get(u));
        continue;
      }
    }
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(whole.Get(s));
    const UOp* made = nullptr;
    switch (u->op) {
      case Op::kSplat:
        made = b.Splat(srcs[0], u->dtype.lanes());
        break;
      case Op::kVectorize:
      case Op::kCat:
        made = Concat(b, legalize::Span(srcs));
        break;
      case Op::kGep:
        made = PickLanes(b, srcs[0], u->list());
        break;
      case Op::kShuffle:
        made = CutShuffle(b, u, srcs[0], srcs[1]);
        break;
      default:
        made = u->dtype.is_value() && u->dtype.lanes() > 1 && IsElementwise(u->op)
                   ? CutOne(b, body, target, fold, u, legalize::Span(srcs), u->dtype.lanes())
                   : fold(u, legalize::WithSources(b, u, legalize::Span(srcs)));
    }
    body.CarryOver(u, made);
    whole[u] = made;
  }
  body.root = whole.Get(body.root);
}

}  // namespace tg::devectorize
