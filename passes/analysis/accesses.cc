#include "passes/analysis/accesses.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>
#include <utility>

#include "ir/tuple.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/affine.h"
#include "passes/analysis/bounds.h"
#include "passes/analysis/view_index.h"

namespace tg::analysis {
namespace {

// The nodes from which `u` is computed, including `u`.
NodeSet PartsOf(const UOp* u) {
  NodeSet parts;
  std::vector<const UOp*> order;
  AppendPostOrder(UOpSpan(&u, 1), parts, order);
  return parts;
}

// The factor of each leaf in `index` (0: it does not occur); nullopt for a leaf that also occurs in
// another term.
std::vector<std::optional<int64_t>> StridesOf(const UOp* index,
                                              const std::vector<const UOp*>& leaves) {
  const std::optional<AffineExpr> sum = ParseAffine(index);
  std::vector<std::optional<int64_t>> strides(leaves.size(), 0);
  const auto spoil = [&](const UOp* u) {
    if (u->num_srcs == 0 || llvm::is_contained(leaves, u)) return;
    const NodeSet parts = PartsOf(u);
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (parts.Contains(leaves[i])) strides[i] = std::nullopt;
    }
  };
  if (!sum) {
    spoil(index);
    return strides;
  }
  for (size_t i = 0; i < leaves.size(); ++i) strides[i] = sum->CoefOf(leaves[i]);
  for (const AffineExpr::Term& term : sum->terms) spoil(term.node);
  return strides;
}

// The parts of an index along one leaf, where it occurs in sums, products with constants, quotients
// and remainders by constants; nullopt if it occurs elsewhere.
using Growth = llvm::SmallVector<GrowthPart, 2>;
bool AddGrowth(const UOp* u, const UOp* leaf, double factor, Growth& to) {
  if (u == leaf) {
    to.push_back({GrowthPart::Kind::kLinear, factor, 0});
    return true;
  }
  if (u->op == Op::kAdd || u->op == Op::kSub) {
    return AddGrowth(u->src(0), leaf, factor, to) &&
           AddGrowth(u->src(1), leaf, u->op == Op::kAdd ? factor : -factor, to);
  }
  for (const size_t k : {0, 1}) {
    if (u->op == Op::kMul && IsConst(u->src(k))) {
      return AddGrowth(u->src(1 - k), leaf, factor * static_cast<double>(u->src(k)->word()), to);
    }
  }
  const bool divides = u->op == Op::kFloorDiv, wraps = u->op == Op::kFloorMod;
  if (!divides && !wraps) return !PartsOf(u).Contains(leaf);
  if (!IsConst(u->src(1)) || u->src(1)->word() <= 0) return !PartsOf(u).Contains(leaf);
  Growth inner;
  if (!AddGrowth(u->src(0), leaf, 1, inner)) return false;
  const auto by = static_cast<double>(u->src(1)->word());
  for (const GrowthPart& part : inner) {
    if (part.each == 0) continue;
    // A quotient of a quotient grows once in both periods, a remainder of one at each of its steps.
    const double period = by / std::abs(part.each);
    if (divides) {
      to.push_back(
          {GrowthPart::Kind::kQuotient, factor * part.each / by, std::max(period, part.period)});
    } else if (part.kind == GrowthPart::Kind::kLinear) {
      to.push_back({GrowthPart::Kind::kRemainder, factor * part.each, period});
    } else {
      return false;
    }
  }
  return true;
}

// a / d, rounded up; d > 0.
int64_t CeilDiv(int64_t a, int64_t d) { return a / d + (a % d > 0); }

// Adds, for each leaf on which a clause depends, the boundaries at which the clause changes along
// that leaf. `part`: the clause, which is no conjunction.
void AddMaskBoundaries(const UOp* part, const std::vector<const UOp*>& leaves, Bounds& bounds,
                       std::vector<MaskBoundaries>& boundaries) {
  // A negation changes where its operand changes.
  while (part->op == Op::kCmpNe && part->src(0)->dtype.is_bool() && IsConst(part->src(1))) {
    part = part->src(0);
  }
  const bool compares = part->op == Op::kCmpLt;
  const NodeSet parts = PartsOf(part);
  std::vector<std::optional<int64_t>> left, right;
  if (compares) {
    left = StridesOf(part->src(0), leaves);
    right = StridesOf(part->src(1), leaves);
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!parts.Contains(leaves[i])) continue;
    if (!compares || !left[i] || !right[i]) {
      boundaries[i].anywhere = true;
      continue;
    }
    const int64_t step = *left[i] - *right[i], end = bounds.Max(leaves[i]);
    if (step == 0) continue;
    // The clause is left < right. left - right = step * i + rest for iteration i of this leaf,
    // where `rest` depends on other leaves, so the clause changes where step * i + rest changes its
    // sign.
    const Interval a = bounds.Of(part->src(0)), c = bounds.Of(part->src(1));
    Interval rest;
    int64_t most = 0;
    if (!a.HasLo() || !a.HasHi() || !c.HasLo() || !c.HasHi() ||
        __builtin_sub_overflow(a.lo, c.hi, &rest.lo) ||
        __builtin_sub_overflow(a.hi, c.lo, &rest.hi) || __builtin_mul_overflow(step, end, &most) ||
        __builtin_sub_overflow(rest.lo, std::min<int64_t>(most, 0), &rest.lo) ||
        __builtin_sub_overflow(rest.hi, std::max<int64_t>(most, 0), &rest.hi)) {
      boundaries[i].anywhere = true;
      continue;
    }
    // For step > 0, the expression is not negative from i = ceil(-rest / step) on. For step < 0, it
    // is negative from i = floor(rest / -step) + 1 on.
    MaskBoundary e = step > 0
                         ? MaskBoundary{CeilDiv(-rest.hi, step), CeilDiv(-rest.lo, step)}
                         : MaskBoundary{CeilDiv(rest.lo + 1, -step), CeilDiv(rest.hi + 1, -step)};
    e = {std::max<int64_t>(e.first, 1), std::min(e.last, end)};
    if (e.first <= e.last) boundaries[i].at.push_back(e);
  }
}

// A position of an element, and the conditions under which it is read. Only the axes on which the
// conditions depend matter here, so each clause is kept once and conjunctions are not built.
struct Place {
  std::vector<const UOp*> index;    // by axis
  std::vector<const UOp*> clauses;  // by id; none is a conjunction
  bool is_known = true;             // false: it may be any element, under any condition
  const UOp* packed = nullptr;      // the innermost `packed` value around it
  friend bool operator==(const Place&, const Place&) = default;
};

void AddClauses(const UOp* condition, std::vector<const UOp*>& clauses) {
  llvm::SmallVector<const UOp*, 8> parts = {condition};
  while (!parts.empty()) {
    const UOp* part = parts.pop_back_val();
    if (part->op == Op::kAnd) {
      parts.append(part->srcs().begin(), part->srcs().end());
      continue;
    }
    const auto before = [](const UOp* a, const UOp* b) { return a->id < b->id; };
    const auto at = std::lower_bound(clauses.begin(), clauses.end(), part, before);
    if (at == clauses.end() || *at != part) clauses.insert(at, part);
  }
}

class Finder {
 public:
  Finder(Body& body, const std::vector<BaseAxis>& axes, ShapeMap& shapes, SimplifyFn simplify,
         bool with_staged)
      : body_(body),
        axes_(axes),
        shapes_(shapes),
        simplify_(simplify),
        with_staged_(with_staged),
        b_(*body.context),
        bounds_(*body.context) {
    // Each axis is represented by a range, the leaf. It is simplified since it is compared with
    // parts of simplified addresses, in which symbolic extents are simplified.
    for (const BaseAxis& a : axes) leaves_.push_back(simplify(b_.Range(b_.Index(a.size))));
    unknown_.is_known = false;
  }

  std::vector<Access> Run() {
    for (const UOp* u : PostOrder(body_.root)) {
      const bool reads = u->op == Op::kLoad ||
                         llvm::any_of(u->srcs(), [&](const UOp* s) { return reads_.Contains(s); });
      if (reads) reads_.Insert(u);
    }
    for (const UOp* store : body_.root->srcs()) {
      const Shape& shape = shapes_.Of(store->src(0));
      Place at;
      at.index.assign(shape.size(), b_.Index(0));
      for (size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].IsStored()) at.index[axes_[i].dim] = leaves_[i];
      }
      Record(store, at);
      Push(store->src(1), Intern(std::move(at)));
    }
    while (!work_.empty()) {
      const auto [u, at] = work_.back();
      work_.pop_back();
      Visit(u, *at);
    }
    return std::move(out_);
  }

 private:
  const Place* Intern(Place at) {
    uint64_t h = at.index.size();
    for (const auto* list : {&at.index, &at.clauses}) {
      for (const UOp* u : *list) h = (h ^ u->id) * 0x9fb21c651e98df25ull + 1;
    }
    h ^= h >> 32;
    for (auto [it, end] = interned_.equal_range(h); it != end; ++it) {
      if (*it->second == at) return it->second;
    }
    return interned_.emplace(h, &places_.emplace_back(std::move(at)))->second;
  }

  void Push(const UOp* u, const Place* at) {
    if (!reads_.Contains(u)) return;
    if (shapes_.Of(u).empty() && !at->index.empty()) {
      at = Intern({{}, at->clauses, true, at->packed});
    }
    auto& seen = seen_[u];
    if (llvm::is_contained(seen, at)) return;
    if (seen.size() >= kMaxPlacesPerNode && at != &unknown_) return Push(u, &unknown_);
    seen.push_back(at);
    work_.emplace_back(u, at);
  }

  Place Map(const UOp* u, Place at) {
    const UOp* src = u->src(0);
    if (!at.is_known) return at;
    if (u->op == Op::kView) {
      const ViewIndex v = IndexThroughView(b_, u, at.index);
      if (v.valid) AddClauses(simplify_(v.valid), at.clauses);
      at.index = Unflatten(b_, shapes_.Of(src), simplify_(v.offset), simplify_);
      return at;
    }
    Position out = MapThrough(b_, u, shapes_.Of(src), shapes_.Of(u), {std::move(at.index), nullptr},
                              nullptr, simplify_);
    at.index = std::move(out.index);
    if (out.valid) AddClauses(out.valid, at.clauses);
    return at;
  }

  void Visit(const UOp* u, const Place& at) {
    if (u->op == Op::kLoad) {
      Record(u, at);
    } else if (!at.is_known) {
      for (const UOp* s : u->srcs()) Push(s, &at);
    } else if (IsMovement(u->op)) {
      Push(u->src(0), Intern(Map(u, at)));
    } else if (u->op == Op::kReduceAxis || u->op == Op::kReduceTuple) {
      Place from = at;
      for (int64_t k : u->list(1)) from.index[static_cast<size_t>(k)] = b_.Index(0);
      for (size_t i = 0; i < axes_.size(); ++i) {
        const UOp* own = axes_[i].reduce ? axes_[i].reduce : axes_[i].staged;
        if (own && IsSameTuple(own, u)) from.index[axes_[i].dim] = leaves_[i];
      }
      const Place* inside = Intern(std::move(from));
      if (u->op == Op::kReduceAxis) return Push(u->src(0), inside);
      for (const UOp* x : TupleValues(u)) Push(x, inside);
    } else if (u->op == Op::kPacked) {
      Place from = at;
      from.packed = u;
      Push(u->src(0), Intern(std::move(from)));
    } else if (u->op == Op::kStaged) {
      if (with_staged_) RecordStaged(u, at);
      Place from = {at.index, {}};
      const Shape& shape = shapes_.Of(u);
      for (size_t k = 0; k < shape.size(); ++k) {
        if (shape[k].Is(1)) from.index[k] = b_.Index(0);
      }
      for (size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].staged == u) from.index[axes_[i].dim] = leaves_[i];
      }
      Push(u->src(0), Intern(std::move(from)));
    } else {
      for (const UOp* s : u->srcs()) Push(s, &at);
    }
  }

  // Adds an Access for the read of staged value `u` at the indices of `at`.
  void RecordStaged(const UOp* u, const Place& at) {
    const Shape& shape = shapes_.Of(u);
    Access a;
    a.node = u;
    a.slot = -1;
    a.packed = at.packed;
    a.masked.resize(leaves_.size());
    a.boundaries.resize(leaves_.size());
    a.stride.assign(leaves_.size(), 0);
    int64_t row = 1;
    for (size_t k = shape.size(); k-- > 0;) {
      const auto own = llvm::find_if(
          axes_, [&](const BaseAxis& axis) { return axis.staged == u && axis.dim == k; });
      if (own == axes_.end()) continue;
      const auto along = StridesOf(at.index[k], leaves_);
      for (size_t i = 0; i < leaves_.size(); ++i) {
        if (!along[i] || !a.stride[i]) {
          a.stride[i] = std::nullopt;
        } else {
          *a.stride[i] += *along[i] * row;
        }
      }
      row *= own->max_size;
    }
    out_.push_back(std::move(a));
  }

  void Record(const UOp* u, Place at) {
    const UOp* ptr = u->src(0);
    while (IsMovement(ptr->op)) {
      at = Map(ptr, std::move(at));
      ptr = ptr->src(0);
    }
    if (ptr->op != Op::kDefineGlobal) return;
    Access a;
    a.node = u;
    a.slot = ptr->word();
    a.packed = at.packed;
    if (at.is_known) {
      a.is_gated = !at.clauses.empty();
      const UOp* index = Flatten(b_, shapes_.Of(ptr), at.index, simplify_);
      a.stride = StridesOf(index, leaves_);
      a.growth.resize(leaves_.size());
      for (size_t i = 0; i < leaves_.size(); ++i) {
        if (!a.stride[i] && !AddGrowth(index, leaves_[i], 1, a.growth[i])) a.growth[i].clear();
      }
      a.masked.resize(leaves_.size());
      a.boundaries.resize(leaves_.size());
      for (const UOp* clause : at.clauses) {
        const Clause& c = FactsOf(clause);
        for (size_t i = 0; i < leaves_.size(); ++i) {
          a.masked[i] = a.masked[i] || c.masked[i];
          a.boundaries[i].anywhere |= c.boundaries[i].anywhere;
          a.boundaries[i].at.insert(a.boundaries[i].at.end(), c.boundaries[i].at.begin(),
                                    c.boundaries[i].at.end());
        }
      }
    } else {
      a.is_gated = true;
      a.stride.assign(leaves_.size(), std::nullopt);
      a.masked.assign(leaves_.size(), true);
      a.boundaries.assign(leaves_.size(), MaskBoundaries{{}, /*anywhere=*/true});
    }
    out_.push_back(std::move(a));
  }

  // The members of Access that one clause determines, by axis.
  struct Clause {
    std::vector<bool> masked;
    std::vector<MaskBoundaries> boundaries;
  };
  const Clause& FactsOf(const UOp* clause) {
    Clause& c = clauses_[clause];
    if (!c.masked.empty()) return c;
    const NodeSet parts = PartsOf(clause);
    for (const UOp* leaf : leaves_) c.masked.push_back(parts.Contains(leaf));
    c.boundaries.resize(leaves_.size());
    AddMaskBoundaries(clause, leaves_, bounds_, c.boundaries);
    return c;
  }

  Body& body_;
  const std::vector<BaseAxis>& axes_;
  ShapeMap& shapes_;
  SimplifyFn simplify_;
  const bool with_staged_;
  Builder b_;
  Bounds bounds_;
  std::vector<const UOp*> leaves_;
  NodeSet reads_;  // the loads and the nodes that are computed from one
  std::deque<Place> places_;
  std::unordered_multimap<uint64_t, const Place*> interned_;  // by hash
  Place unknown_;
  SparseNodeMap<Clause> clauses_;
  std::vector<std::pair<const UOp*, const Place*>> work_;
  NodeMap<llvm::SmallVector<const Place*, 1>> seen_;
  std::vector<Access> out_;
};

}  // namespace

std::optional<double> Access::DistanceOf(size_t axis, int64_t step, int64_t count) const {
  const auto steps = static_cast<double>(step), all = steps * static_cast<double>(count);
  if (stride[axis]) return static_cast<double>(*stride[axis]) * steps;
  if (axis >= growth.size() || growth[axis].empty()) return std::nullopt;
  double sum = 0;
  for (const GrowthPart& part : growth[axis]) {
    const bool stays = all <= part.period;  // in one block of the period
    const bool skips = part.period > 0 && std::fmod(steps, part.period) == 0;
    if (part.kind == GrowthPart::Kind::kQuotient && stays) continue;
    if (part.kind == GrowthPart::Kind::kRemainder && (skips || (!stays && steps > part.period))) {
      continue;
    }
    sum += part.each * steps;
  }
  return sum;
}

std::vector<Access> FindAccesses(Body& body, const std::vector<BaseAxis>& axes, ShapeMap& shapes,
                                 SimplifyFn simplify, bool with_staged) {
  return Finder(body, axes, shapes, simplify, with_staged).Run();
}

}  // namespace tg::analysis
