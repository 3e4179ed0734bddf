#include "passes/devectorize/alu_width.h"

#include <algorithm>
#include <bit>

#include "passes/decompose/forward.h"
#include "passes/devectorize/lane_folder.h"
#include "passes/devectorize/lanes.h"
#include "passes/devectorize/width.h"

namespace tg {
namespace {

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
  const auto widest = static_cast<unsigned>(AluLanes(target, u));
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

}  // namespace

void CutArithmetic(Body& body, const Module& module, const Target& target, UOpSpan order) {
  Builder b(*body.context);
  LaneFolder fold(*body.context, module);
  ForwardRewrite(body, order, [&](const UOp* u, UOpSpan srcs) -> const UOp* {
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
