#include "passes/analysis/indexing.h"

#include "base/check.h"
#include "ir/op_groups.h"
#include "ir/shape.h"
#include "passes/analysis/extents.h"

namespace tg::analysis {
namespace {

// x * d + y, where a null `x` or `y` is 0 and a factor of 1 is left out.
const UOp* MulAdd(Builder& b, const UOp* x, const Dim& d, const UOp* y) {
  if (x) x = d.Is(1) ? x : b.Mul(x, b.Index(d));
  if (!x) return y;
  return y ? b.Add(x, y) : x;
}

// Splits the element number `flat` of the axes [first, last) of `shape` into their indices.
void SplitInto(Builder& b, const Shape& shape, size_t first, size_t last, const UOp* flat,
               std::vector<const UOp*>& index, SimplifyFn simplify) {
  size_t wide = 0;  // the number of axes left whose extent is not 1
  for (size_t k = first; k < last; ++k) wide += !shape[k].Is(1);
  const UOp* rest = flat;
  for (size_t k = last; k-- > first;) {
    if (shape[k].Is(1)) {
      index[k] = b.Index(0);
      continue;
    }
    const UOp* size = b.Index(shape[k]);
    if (wide == 1) {
      index[k] = simplify(rest);
    } else {
      index[k] = simplify(b.Alu(Op::kFloorMod, {rest, size}));
      rest = simplify(b.Alu(Op::kFloorDiv, {rest, size}));
    }
    --wide;
  }
}

std::vector<const UOp*> MapReshape(Builder& b, const Shape& from, const Shape& to,
                                   const std::vector<const UOp*>& at, SimplifyFn simplify) {
  std::vector<const UOp*> index(from.size(), nullptr);
  for (const ReshapeGroup& g : GroupReshape(from, to)) {
    if (g.same) {
      index[g.from_begin] = at[g.to_begin];
      continue;
    }
    const UOp* flat = nullptr;
    for (size_t k = g.to_begin; k < g.to_end; ++k) {
      if (!to[k].Is(1)) flat = MulAdd(b, flat, to[k], at[k]);
    }
    SplitInto(b, from, g.from_begin, g.from_end, flat ? simplify(flat) : b.Index(0), index,
              simplify);
  }
  return index;
}

}  // namespace

llvm::SmallVector<ReshapeGroup, 6> GroupReshape(const Shape& from, const Shape& to) {
  llvm::SmallVector<ReshapeGroup, 6> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    size_t i_end = i, j_end = j;
    if (i < from.size() && j < to.size() && from[i] == to[j]) {
      groups.push_back({i, i + 1, j, j + 1, true});
      ++i, ++j;
      continue;
    }
    // Extends both sides until their numbers of elements agree. Where symbols are missing on one
    // side, that is extended.
    Extents a, c;
    do {
      const bool has_symbols = a.symbols.size() > c.symbols.size();
      const bool lacks_symbols = a.symbols.size() < c.symbols.size();
      const bool extends_from = lacks_symbols || (!has_symbols && a.number <= c.number);
      if ((extends_from && i_end < from.size()) || j_end == to.size()) {
        if (i_end == from.size()) break;
        a.Multiply(from[i_end++]);
      } else {
        c.Multiply(to[j_end++]);
      }
    } while (a != c || a.number == 0);
    groups.push_back({i, i_end, j, j_end, false});
    i = i_end, j = j_end;
  }
  return groups;
}

const UOp* Both(Builder& b, const UOp* a, const UOp* c) {
  if (!a || a == c) return c;
  return c ? b.And(a, c) : a;
}

const UOp* Flatten(Builder& b, const Shape& shape, const std::vector<const UOp*>& index,
                   SimplifyFn simplify) {
  TG_CHECK(shape.size() == index.size());
  const UOp* flat = nullptr;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (!shape[k].Is(1)) flat = MulAdd(b, flat, shape[k], index[k]);
  }
  return flat ? simplify(flat) : b.Index(0);
}

std::vector<const UOp*> Unflatten(Builder& b, const Shape& shape, const UOp* flat,
                                  SimplifyFn simplify) {
  std::vector<const UOp*> index(shape.size(), nullptr);
  SplitInto(b, shape, 0, shape.size(), flat, index, simplify);
  return index;
}

Position MapThrough(Builder& b, const UOp* u, const Shape& from, const Shape& to,
                    const Position& at, const UOp** clause, SimplifyFn simplify) {
  Position out;
  out.valid = at.valid;
  if (clause) *clause = nullptr;
  switch (MovementOp(u->op)) {
    case MovementOp::kReshape:
      out.index = MapReshape(b, from, to, at.index, simplify);
      break;
    case MovementOp::kExpand:
      out.index = at.index;
      for (size_t k = 0; k < from.size(); ++k) {
        if (from[k].Is(1)) out.index[k] = b.Index(0);
      }
      break;
    case MovementOp::kPermute: {
      const auto order = u->list();
      out.index.resize(from.size());
      for (size_t k = 0; k < order.size(); ++k) {
        out.index[static_cast<size_t>(order[k])] = at.index[k];
      }
      break;
    }
    case MovementOp::kFlip:
      out.index = at.index;
      for (int64_t axis : u->list()) {
        const auto k = static_cast<size_t>(axis);
        const UOp* last = b.Index(SubDims(b.context(), from[k], 1));
        out.index[k] = simplify(b.Sub(last, at.index[k]));
      }
      break;
    case MovementOp::kShrink: {
      const auto pairs = PairsOf(u);
      for (size_t k = 0; k < from.size(); ++k) {
        const Dim& start = pairs[k].first;
        out.index.push_back(start.Is(0) ? at.index[k]
                                        : simplify(b.Add(at.index[k], b.Index(start))));
      }
      break;
    }
    case MovementOp::kPad: {
      const auto pairs = PairsOf(u);
      const UOp* own = nullptr;
      for (size_t k = 0; k < from.size(); ++k) {
        const auto& [before, after] = pairs[k];
        const UOp* i = at.index[k];
        if (!before.Is(0)) {
          own = Both(b, own, b.Not(b.Lt(i, b.Index(before))));
          i = simplify(b.Sub(i, b.Index(before)));
        }
        if (!after.Is(0)) own = Both(b, own, b.Lt(i, b.Index(from[k])));
        out.index.push_back(i);
      }
      if (own) own = simplify(own);
      if (own && IsConst(own) && own->word()) own = nullptr;
      if (clause) *clause = own;
      if (own) out.valid = simplify(Both(b, out.valid, own));
      break;
    }
    case MovementOp::kBroadcast:
    case MovementOp::kView:
      TG_UNREACHABLE();  // kernelize replaces them
  }
  return out;
}

}  // namespace tg::analysis
