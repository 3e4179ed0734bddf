#include "passes/simplify/closed_reduce.h"

#include <cmath>
#include <vector>

#include "ir/value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/build.h"
#include "passes/simplify/affine_sums.h"

namespace tg::simplify {
namespace {

using Nodes = llvm::SmallVector<const UOp*, 8>;
constexpr size_t kMaxNodes = 2048;
// The limit on the clauses of one condition, and on the nodes that a search for conditions visits.
constexpr size_t kMaxConditions = 16;

bool IsZero(const UOp* v) { return rewrite::UniformBits(v) == 0; }

struct Condition {
  const UOp* node;
  bool holds;
};

// Returns conditions that are necessary for `value` not to be 0: wherever it is not 0, each node
// has the value `holds`. `zero_mul`: a product of floats with 0 is 0.
llvm::SmallVector<Condition, 8> ConditionsOf(const UOp* value, bool zero_mul) {
  llvm::SmallVector<Condition, 8> out;
  Nodes stack = {value};
  for (size_t seen = 0; !stack.empty() && seen < kMaxConditions; ++seen) {
    const UOp* v = stack.pop_back_val();
    if (v->dtype.lanes() != 1) continue;
    if (v->dtype.is_bool()) {
      out.push_back({v, true});
    } else if (v->op == Op::kWhere && (IsZero(v->src(1)) || IsZero(v->src(2)))) {
      const bool holds = IsZero(v->src(2));
      out.push_back({v->src(0), holds});
      stack.push_back(v->src(holds ? 1 : 2));
    } else if (v->op == Op::kCast || v->op == Op::kNeg) {
      stack.push_back(v->src(0));
    } else if (v->op == Op::kMul && (zero_mul || !v->dtype.is_float())) {
      stack.append(v->srcs().begin(), v->srcs().end());
    }
  }
  return out;
}

class Reduce {
 public:
  Reduce(const UOp* u, size_t which, rewrite::RuleContext& rc)
      : u_(u), op_(static_cast<Op>(u->word())), value_(u->src(0)), r_(u->src(which)), rc_(rc) {
    for (size_t i = 1; i < u->num_srcs; ++i) {
      if (i != which) others_.push_back(u->src(i));
    }
  }

  const UOp* Run() {
    if (!FindUsers()) return nullptr;
    if (!Depends(value_)) return Independent();
    if (op_ != Op::kAdd || u_->dtype.is_bool()) return nullptr;
    if (value_->op == Op::kWhere) {
      if (const UOp* sum = Choice()) return sum;
    }
    if (const UOp* term = OneTerm()) return term;
    if (value_->dtype.is_float()) return nullptr;
    if (value_->op == Op::kCast && value_->src(0)->dtype.is_bool()) {
      return Over(Where(value_->src(0), Number(1), Number(0)));
    }
    if (value_->op != Op::kMul && value_->op != Op::kAdd) return nullptr;
    for (int i = 0; i < 2; ++i) {
      const UOp *free = value_->src(static_cast<size_t>(i)),
                *rest = value_->src(static_cast<size_t>(1 - i));
      if (Depends(free)) continue;
      const UOp* sum = Over(rest);
      return value_->op == Op::kMul ? Make(Op::kMul, sum, free) : Make(Op::kAdd, sum, Over(free));
    }
    return nullptr;
  }

 private:
  const UOp* Make(Op op, const UOp* a, const UOp* b) { return rc_.ctx.Make(op, a->dtype, {a, b}); }
  const UOp* Where(const UOp* p, const UOp* a, const UOp* b) {
    return rc_.ctx.Make(Op::kWhere, a->dtype, {p, a, b});
  }
  const UOp* Less(const UOp* a, const UOp* b) { return rc_.ctx.Make(Op::kCmpLt, kBool, {a, b}); }
  const UOp* Index(int64_t v) { return rewrite::UniformConst(rc_.ctx, kIndex, v); }
  const UOp* Number(int64_t v) {
    return rewrite::UniformConst(rc_.ctx, u_->dtype, BitsFromInt(u_->dtype.scalar(), v));
  }
  // The reduce of another value over all ranges, or over all except r if `with_r` is false.
  const UOp* Over(const UOp* value, bool with_r = true) {
    Nodes srcs = {value};
    srcs.append(others_.begin(), others_.end());
    if (with_r) srcs.push_back(r_);
    if (srcs.size() == 1) return value;
    return rc_.ctx.Make(Op::kReduce, u_->dtype, UOpSpan(srcs.data(), srcs.size()), u_->attr);
  }
  // Whether n is finite in the float type. If it rounds to infinity, 0 * n is NaN, but the sum of n
  // zeros is 0.
  bool IsFinite(int64_t n) const {
    const Scalar s = u_->dtype.scalar();
    return std::isfinite(DoubleFromBits(s, BitsFromInt(s, n)));
  }
  // `count`, an index, times `v`. The result is 0 where the count is 0, whatever v is.
  const UOp* Times(const UOp* v, const UOp* count) {
    if (u_->dtype.lanes() > 1 && !rewrite::UniformBits(count)) return nullptr;
    if (u_->dtype.is_float() && !IsFinite(rc_.bounds.Of(count).hi)) return nullptr;
    const auto bits = rewrite::UniformBits(count);
    const UOp* n = bits ? Number(*bits) : rc_.ctx.Make(Op::kCast, u_->dtype, {count});
    const UOp* product = u_->dtype == kIndex ? Make(Op::kMul, v, count) : Make(Op::kMul, v, n);
    if (!u_->dtype.is_float() || bits > 0) return product;
    return Where(Less(Index(0), count), product, Number(0));
  }

  // Finds the nodes of the value that depend on the range. Returns false if there are too many
  // nodes.
  bool FindUsers() {
    llvm::SmallPtrSet<const UOp*, 32> seen = {value_};
    llvm::SmallVector<std::pair<const UOp*, uint32_t>, 32> stack = {{value_, 0}};
    while (!stack.empty()) {
      auto& [u, next] = stack.back();
      if (next == u->num_srcs) {
        order_.push_back(u);
        bool depends = u == r_;
        for (const UOp* s : u->srcs()) depends |= users_.contains(s);
        if (depends) users_.insert(u);
        if (order_.size() > kMaxNodes) return false;
        stack.pop_back();
        continue;
      }
      const UOp* s = u->src(next++);
      if (seen.insert(s).second) stack.push_back({s, 0});
    }
    return true;
  }
  bool Depends(const UOp* u) const { return users_.contains(u); }

  const UOp* Independent() {
    const analysis::Interval trips = rc_.bounds.Of(r_->src(0));
    const bool runs = trips.lo >= 1;
    switch (op_) {
      case Op::kMax:
      case Op::kMin:
      case Op::kAnd:
      case Op::kOr:
        return runs ? Over(value_, false) : nullptr;
      case Op::kAdd:
        if (u_->dtype.is_bool()) return runs ? Over(value_, false) : nullptr;
        if (u_->dtype.is_float() && !trips.IsPoint()) return nullptr;
        if (const UOp* sum = runs ? Times(value_, r_->src(0)) : nullptr) return Over(sum, false);
        return nullptr;
      default:
        return nullptr;
    }
  }

  // A restriction of r that a clause states: low <= r < high, or r == at. Unused members are null.
  struct Selection {
    const UOp *low = nullptr, *high = nullptr, *at = nullptr;
  };
  // Sets one member of `out` from a clause that is linear in r with a factor of 1 or -1. False for
  // any other clause.
  bool Parse(const UOp* clause, Selection* out) {
    bool equal = false;
    if (clause->op == Op::kCmpNe && clause->src(0)->op == Op::kCmpNe &&
        rewrite::UniformBits(clause->src(1)) == 1) {
      clause = clause->src(0);
      equal = true;
    }
    if ((clause->op != Op::kCmpLt && !equal) || clause->dtype.lanes() != 1) return false;
    const UOp *a = clause->src(0), *b = clause->src(1);
    // An equality of integers becomes one of indices if the integer type holds all values of the
    // index that is cast to it.
    if (equal && a->dtype.is_int()) {
      if (Depends(b)) std::swap(a, b);
      if (Depends(b)) return false;
      // Moves a term that is added to the cast index to the other side; both sides wrap alike.
      while (a->op == Op::kAdd) {
        const size_t own = Depends(a->src(0)) ? 0 : 1;
        if (Depends(a->src(1 - own))) return false;
        b = Make(Op::kSub, b, a->src(1 - own));
        a = a->src(own);
      }
      if (a->op != Op::kCast || !a->src(0)->dtype.is_index()) return false;
      if (b->dtype.scalar() == Scalar::kU64 || rc_.bounds.Of(a) != rc_.bounds.Of(a->src(0))) {
        return false;
      }
      a = a->src(0);
      b = rc_.ctx.Make(Op::kCast, kIndex, {b});
    }
    auto sum = ParseAffine(a);
    if (!sum || !sum->type.is_index() || !sum->Add(b, -1)) return false;
    int64_t coef = 0;
    AffineExpr rest;
    rest.type = sum->type;
    rest.constant = sum->constant;
    for (const auto& t : sum->terms) {
      if (t.node == r_) {
        coef = t.coef;
      } else if (Depends(t.node)) {
        return false;
      } else {
        rest.terms.push_back(t);
      }
    }
    if (coef != 1 && coef != -1) return false;
    // The clause is coef * r + rest < 0 or == 0. For coef 1, `rest` is negated from here on.
    if (coef == 1 && !rest.Scale(-1)) return false;
    if (equal) {
      out->at = BuildAffine(rest, rc_);
    } else if (coef == 1) {
      out->high = BuildAffine(rest, rc_);  // r < rest
    } else {
      if (!rest.AddConstant(1)) return false;
      out->low = BuildAffine(rest, rc_);  // -r + rest < 0, so rest + 1 <= r
    }
    return true;
  }

  const UOp* Not(const UOp* p) {
    return rc_.ctx.Make(Op::kCmpNe, kBool, {p, rewrite::UniformConst(rc_.ctx, kBool, 1)});
  }

  // A sum in which all terms but one are 0, because of a comparison r == at that ConditionsOf
  // finds. Returns the value of that term; null if there is no such comparison.
  const UOp* OneTerm() {
    llvm::SmallVector<Condition, 8> stack =
        ConditionsOf(value_, rc_.flags.has(ModuleFlag::kZeroMul));
    for (size_t seen = 0; !stack.empty() && seen < kMaxConditions; ++seen) {
      const auto [node, holds] = stack.pop_back_val();
      if (!Depends(node)) continue;
      if (node->op == Op::kAnd && holds) {
        stack.push_back({node->src(1), true});
        stack.push_back({node->src(0), true});
        continue;
      }
      Selection s;
      if (!Parse(holds ? node : Not(node), &s) || !s.at) continue;
      const UOp* valid =
          rc_.ctx.Make(Op::kAnd, kBool, {Less(Index(-1), s.at), Less(s.at, r_->src(0))});
      const UOp* term = Substitute(value_, s.at, valid, Stripped(node));
      return term ? Over(Where(valid, term, Number(0)), false) : nullptr;
    }
    return nullptr;
  }
  // The comparison of a clause, without a negation around it.
  static const UOp* Stripped(const UOp* clause) {
    while (clause->op == Op::kCmpNe && clause->src(0)->dtype.is_bool() &&
           rewrite::UniformBits(clause->src(1)) == 1) {
      clause = clause->src(0);
    }
    return clause;
  }

  // A sum over where(gate, v, 0) or where(gate, 0, v): one term if the gate fixes r, or a multiple
  // of v if the gate restricts r to an interval and v is invariant. Null otherwise.
  const UOp* Choice() {
    const UOp *gate = value_->src(0), *v = value_->src(1);
    if (gate->dtype.lanes() != 1) return nullptr;
    if (IsZero(v)) {
      v = value_->src(2);
      gate = Not(gate);
      // Parse reads a negated `!=`, but not a negated `<`: !(a < b) is written b < a + 1.
      if (const UOp* of = value_->src(0); of->op == Op::kCmpLt && of->src(0)->dtype.is_index()) {
        gate = Less(of->src(1), Make(Op::kAdd, of->src(0), Index(1)));
      }
    } else if (!IsZero(value_->src(2))) {
      return nullptr;
    }
    Nodes free, bound, stack = {gate};
    while (!stack.empty()) {
      const UOp* c = stack.pop_back_val();
      if (c->op == Op::kAnd) {
        stack.push_back(c->src(1));
        stack.push_back(c->src(0));
      } else {
        (Depends(c) || c == gate ? bound : free).push_back(c);
      }
      if (stack.size() + free.size() + bound.size() > kMaxConditions) return nullptr;
    }
    const UOp* low = Index(0);
    const UOp* high = r_->src(0);
    const UOp* at = nullptr;
    for (const UOp* c : bound) {
      Selection s;
      if (!Parse(c, &s) || (s.at && at)) return nullptr;
      if (s.at) at = s.at;
      if (s.low) low = Make(Op::kMax, low, s.low);
      if (s.high) high = Make(Op::kMin, high, s.high);
    }
    const UOp* sum = nullptr;
    if (at) {
      const UOp* valid =
          rc_.ctx.Make(Op::kAnd, kBool, {Less(Make(Op::kAdd, low, Index(-1)), at), Less(at, high)});
      const UOp* there = Substitute(v, at, valid);
      if (there) sum = Where(valid, there, Number(0));
    } else if (!Depends(v)) {
      sum =
          Times(v, Make(Op::kMax, Make(Op::kAdd, high, Make(Op::kMul, low, Index(-1))), Index(0)));
    }
    if (!sum) return nullptr;
    for (const UOp* c : free) sum = Where(c, sum, Number(0));
    return Over(sum, false);
  }

  // `v` with the range replaced by `at`, and with those of its loads that depend on the range under
  // the gate `valid`. `unequal`: the comparison r != at, which becomes false; or null. Returns null
  // if `v` contains another op that depends on the range, such as an effect or an inner loop, if
  // the memory that is read does, or if an address has several lanes.
  const UOp* Substitute(const UOp* v, const UOp* at, const UOp* valid,
                        const UOp* unequal = nullptr) {
    llvm::SmallDenseMap<const UOp*, const UOp*, 32> map;
    Nodes srcs;
    for (const UOp* u : order_) {
      map[u] = u;
      if (!Depends(u)) continue;
      if (u == r_ || u == unequal) {
        map[u] = u == r_ ? at : rewrite::UniformConst(rc_.ctx, kBool, 0);
        continue;
      }
      if (!IsElementwise(u->op) && u->op != Op::kIndex && u->op != Op::kLoad) {
        if (u == value_) continue;
        return nullptr;
      }
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(map.lookup(s));
      if (u->op == Op::kIndex) {
        if (Depends(u->src(0)) || u->dtype.lanes() != 1) return nullptr;
        if (srcs.size() == 3) {
          srcs[2] = rc_.ctx.Make(Op::kAnd, kBool, {srcs[2], valid});
        } else {
          srcs.push_back(valid);
        }
      }
      map[u] = rc_.ctx.Make(u->op, u->dtype, UOpSpan(srcs.data(), srcs.size()), u->attr);
    }
    return map.lookup(v);
  }

  const UOp* const u_;
  const Op op_;
  const UOp* const value_;
  const UOp* const r_;
  rewrite::RuleContext& rc_;
  Nodes others_;
  llvm::SmallPtrSet<const UOp*, 32> users_;
  std::vector<const UOp*> order_;  // of the value, sources first
};

}  // namespace

const UOp* FoldReduce(const UOp* u, rewrite::RuleContext& rc) {
  if (u->num_srcs < 2 || u->dtype != u->src(0)->dtype || !u->dtype.is_value()) return nullptr;
  // n * v rounds differently from a sum of n terms.
  if (u->dtype.is_float() && rc.flags.has(ModuleFlag::kNoReassociate)) return nullptr;
  // The ranges are treated independently, so none of their ends may depend on another range: each
  // is a constant or a variable.
  for (const UOp* r : u->srcs().subspan(1)) {
    if (r->op != Op::kRange || (!IsConst(r->src(0)) && r->src(0)->op != Op::kVar)) return nullptr;
  }
  for (size_t i = 1; i < u->num_srcs; ++i) {
    if (const UOp* v = Reduce(u, i, rc).Run()) return v;
  }
  return nullptr;
}

bool MayFoldReduce(Op op, const UOp* value) {
  return op == Op::kAdd && (value->op == Op::kWhere || !value->dtype.is_float() ||
                            !ConditionsOf(value, true).empty());
}

}  // namespace tg::simplify
