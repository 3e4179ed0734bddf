#include "passes/analysis/loop_sets.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "passes/analysis/indexing.h"

namespace tg {

namespace {

// The axes [group.from_begin, group.from_end) of a reshape's source as digits of the number that
// its result's axes spell. False where a digit would have to be cut unevenly.
bool Respell(const ReshapeGroup& group, const Shape& from, const Shape& to,
             const std::vector<AxisLoops>& at, std::vector<AxisLoops>& out) {
  llvm::SmallVector<LoopDigit, 8> number;
  for (size_t k = group.to_begin; k < group.to_end; ++k) {
    if (to[k].is_symbolic() || !at[k].exact) return false;
    number.append(at[k].digits.begin(), at[k].digits.end());
    // An axis along which the value is the same has no digits; its elements cannot be told apart.
    if (at[k].digits.empty() && !to[k].Is(1)) return false;
  }
  for (size_t k = group.from_end; k-- > group.from_begin;) {
    if (from[k].is_symbolic()) return false;
    int64_t left = from[k].value();
    out[k] = {};
    while (left > 1) {
      if (number.empty()) return false;
      LoopDigit& last = number.back();
      if (last.size <= left) {
        if (left % last.size != 0) return false;
        left /= last.size;
        out[k].digits.insert(out[k].digits.begin(), LoopDigit(last));
        number.pop_back();
      } else {
        if (last.size % left != 0) return false;
        out[k].digits.insert(out[k].digits.begin(), LoopDigit{last.loop, last.stride, left});
        last.stride *= left;
        last.size /= left;
        left = 1;
      }
    }
  }
  return true;
}

// Made of all these digits somehow.
AxisLoops Mixture(const std::vector<AxisLoops>& at, size_t begin, size_t end) {
  AxisLoops all;
  all.exact = false;
  for (size_t k = begin; k < end; ++k) {
    all.digits.append(at[k].digits.begin(), at[k].digits.end());
  }
  all.exact = all.digits.empty();
  return all;
}

}  // namespace

LoopSet UnionOf(const std::vector<AxisLoops>& axes) {
  LoopSet all = 0;
  for (const AxisLoops& a : axes) {
    for (const LoopDigit& d : a.digits) all |= LoopBit(d.loop);
  }
  return all;
}

AxisLoops CountedBy(size_t loop, const Dim& size) {
  AxisLoops axis;
  axis.exact = !size.is_symbolic();
  axis.digits.push_back({static_cast<uint32_t>(loop), 1, axis.exact ? size.value() : 1});
  return axis;
}

std::vector<AxisLoops> LoopsThrough(const UOp* u, const Shape& from, const Shape& to,
                                    const std::vector<AxisLoops>& at) {
  std::vector<AxisLoops> out(from.size());
  switch (u->op) {
    case Op::kReshape:
      for (const ReshapeGroup& g : GroupReshape(from, to)) {
        if (g.same) {
          out[g.from_begin] = at[g.to_begin];
        } else if (!Respell(g, from, to, at, out)) {
          const AxisLoops all = Mixture(at, g.to_begin, g.to_end);
          for (size_t k = g.from_begin; k < g.from_end; ++k) {
            out[k] = from[k].Is(1) ? AxisLoops{} : all;
          }
        }
      }
      return out;
    case Op::kExpand:
      for (size_t k = 0; k < from.size(); ++k) {
        if (from[k] == to[k]) out[k] = at[k];
      }
      return out;
    case Op::kPermute:
      for (size_t k = 0; k < to.size(); ++k) out[static_cast<size_t>(u->list(0)[k])] = at[k];
      return out;
    case Op::kFlip:
      return at;
    case Op::kPad:
    case Op::kShrink:
      for (size_t k = 0; k < from.size(); ++k) {
        out[k] = at[k];
        if (from[k] != to[k]) out[k].exact = at[k].digits.empty();
      }
      return out;
    default:
      out.assign(from.size(), Mixture(at, 0, at.size()));
      return out;
  }
}

std::vector<LoopSet> ReduceDependence(const Body& body, const std::vector<BaseAxis>& axes,
                                      ShapeMap& shapes) {
  std::vector<LoopSet> out(axes.size(), 0);
  if (std::none_of(axes.begin(), axes.end(), [](const BaseAxis& a) { return a.reduce; }))
    return out;
  using Places = std::vector<AxisLoops>;
  std::unordered_map<const UOp*, std::vector<Places>> seen;
  std::vector<std::pair<const UOp*, Places>> work;
  const auto push = [&](const UOp* u, Places at) {
    if (shapes.Of(u).empty()) at.clear();
    std::vector<Places>& known = seen[u];
    if (std::find(known.begin(), known.end(), at) != known.end()) return;
    known.push_back(at);
    work.emplace_back(u, std::move(at));
  };
  for (const UOp* store : body.root->srcs()) {
    Places at(shapes.Of(store->src(0)).size());
    for (size_t i = 0; i < axes.size(); ++i) {
      if (!axes[i].reduce) at[axes[i].dim] = CountedBy(i, axes[i].size);
    }
    push(store->src(1), std::move(at));
  }
  while (!work.empty()) {
    auto [u, at] = std::move(work.back());
    work.pop_back();
    if (u->op == Op::kLoad) continue;
    if (IsMovement(u->op)) {
      push(u->src(0), LoopsThrough(u, shapes.Of(u->src(0)), shapes.Of(u), at));
    } else if (u->op == Op::kReduceAxis) {
      const LoopSet loops = UnionOf(at);
      for (int64_t k : u->list(1)) at[static_cast<size_t>(k)] = {};
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].reduce != u) continue;
        out[i] |= loops;
        at[axes[i].dim] = CountedBy(i, axes[i].size);
      }
      push(u->src(0), std::move(at));
    } else {
      for (const UOp* s : u->srcs()) push(s, at);
    }
  }
  return out;
}

}  // namespace tg
