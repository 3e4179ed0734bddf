#include "passes/analysis/loop_sets.h"

#include <algorithm>
#include <utility>

#include "passes/analysis/extents.h"
#include "passes/analysis/indexing.h"

namespace tg::analysis {

namespace {

// Sets out[k], for the axes [group.from_begin, group.from_end) of a reshape's source, to digits of
// the number that the group's axes of the result form. Returns false if that number is not known
// exactly, or if a digit would have to be split by a size that does not divide it.
bool Respell(const ReshapeGroup& group, const Shape& from, const Shape& to,
             const std::vector<AxisLoops>& at, std::vector<AxisLoops>& out) {
  llvm::SmallVector<LoopDigit, 8> number;
  for (size_t k = group.to_begin; k < group.to_end; ++k) {
    if (!at[k].exact) return false;
    number.append(at[k].digits.begin(), at[k].digits.end());
    // An axis without digits has the same index in all iterations, although its extent is not 1, so
    // that the digits do not form the element's number.
    if (at[k].digits.empty() && !to[k].Is(1)) return false;
  }
  for (size_t k = group.from_end; k-- > group.from_begin;) {
    Extents extents = ExtentsOf(from[k]);
    int64_t& left = extents.number;
    out[k] = {};
    while (left > 1 || !extents.symbols.empty()) {
      if (number.empty()) return false;
      LoopDigit& last = number.back();
      if (last.symbol) {
        if (!extents.Divide(ExtentsOf(Dim(last.symbol)))) return false;
        out[k].digits.insert(out[k].digits.begin(), LoopDigit(last));
        number.pop_back();
      } else if (!extents.symbols.empty() && last.size > left) {
        return false;
      } else if (last.size <= left) {
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

// Combines `place` with `by` into a new place; returns `place` if `by` is 0.
uint64_t Elsewhere(uint64_t place, uint64_t by) {
  return by == 0 ? place : (place ^ by) * 0x9e3779b97f4a7c15ull + 1;
}

// An index that is an unknown function of all digits of axes [begin, end).
AxisLoops Mixture(const std::vector<AxisLoops>& at, size_t begin, size_t end) {
  AxisLoops all;
  all.exact = false;
  for (size_t k = begin; k < end; ++k) {
    all.place = Elsewhere(all.place, at[k].place);
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
  const int64_t number = size.is_symbolic() ? 1 : size.value();
  axis.digits.push_back({static_cast<uint32_t>(loop), 1, number, size.symbol()});
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
      out = at;
      for (int64_t k : u->list(0)) {
        AxisLoops& axis = out[static_cast<size_t>(k)];
        axis.place = Elsewhere(axis.place, ~uint64_t{0});
      }
      return out;
    case Op::kPad:
    case Op::kShrink:
      for (size_t k = 0; k < from.size(); ++k) {
        out[k] = at[k];
        if (from[k] == to[k]) continue;
        out[k].exact = at[k].digits.empty();
        const int64_t start = u->list(0)[2 * k];
        if (start == kSymbolic)
          out[k].place = Elsewhere(out[k].place, u->id + 1);
        else
          out[k].place += static_cast<uint64_t>(u->op == Op::kPad ? -start : start);
      }
      return out;
    default:
      out.assign(from.size(), Mixture(at, 0, at.size()));
      return out;
  }
}

bool IsCountedAlike(const Dim& size, const std::vector<const AxisLoops*>& ways, LoopSet stored) {
  Extents indices;
  for (const LoopDigit& d : ways[0]->digits) {
    // All loops from number 63 on share the last bit, so it says nothing about one of them.
    if (d.loop >= 63 || (stored & LoopBit(d.loop)) == 0) return false;
    indices.Multiply(d.symbol ? Dim(d.symbol) : Dim(d.size));
  }
  return indices == ExtentsOf(size) && ways[0]->exact &&
         std::all_of(ways.begin(), ways.end(), [&](const AxisLoops* w) { return *w == *ways[0]; });
}

}  // namespace tg::analysis
