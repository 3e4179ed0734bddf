#include "passes/simplify/gate.h"

#include <algorithm>

#include "passes/rewrite/build.h"
#include "passes/simplify/assume.h"

namespace tg::simplify {
namespace {

constexpr size_t kMaxClauses = 16;

// The rank of the innermost loop along which a value varies; 0 if there is none.
int64_t Level(const UOp* u, rewrite::RuleContext& rc) {
  const int64_t rank = rc.order.Rank(u);
  return rank < analysis::StructuralOrder::kRangeRank ? 0 : rank;
}

}  // namespace

bool SplitAnd(const UOp* gate, Clauses& out) {
  Clauses stack = {gate};
  while (!stack.empty()) {
    const UOp* u = stack.pop_back_val();
    if (u->op == Op::kAnd && u->dtype.is_bool()) {
      if (stack.size() + out.size() > kMaxClauses) return false;
      stack.push_back(u->src(1));
      stack.push_back(u->src(0));
    } else if (std::find(out.begin(), out.end(), u) == out.end()) {
      out.push_back(u);
    }
  }
  return true;
}

const UOp* NotGate(const UOp* gate, rewrite::RuleContext& rc) {
  if (const UOp* positive = Negated(gate)) return positive;
  return rc.ctx.Make(Op::kCmpNe, gate->dtype,
                     {gate, rewrite::UniformConst(rc.ctx, gate->dtype, 1)});
}

const UOp* JoinAnd(const Clauses& clauses, rewrite::RuleContext& rc) {
  const UOp* all = nullptr;
  for (const UOp* c : clauses) all = all ? rc.ctx.Make(Op::kAnd, c->dtype, {all, c}) : c;
  return all;
}

const UOp* SimplifyUnder(const UOp* gate, const UOp* value, rewrite::RuleContext& rc) {
  Clauses clauses;
  return SplitAnd(gate, clauses) ? SimplifyUnderClauses(clauses, value, rc) : value;
}

const UOp* CanonicalAnd(const UOp* u, rewrite::RuleContext& rc) {
  if (!u->dtype.is_bool() || rc.canonical_gates.Contains(u)) return nullptr;
  Clauses clauses;
  if (!SplitAnd(u, clauses)) return nullptr;
  const auto zero = [&] { return rewrite::UniformConst(rc.ctx, u->dtype, 0); };
  for (size_t i = 0; i < clauses.size(); ++i) {
    Clauses others = clauses;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    const UOp* simple = SimplifyUnderClauses(others, clauses[i], rc);
    if (!simple || rewrite::UniformBits(simple) == 0) return zero();
    if (rewrite::UniformBits(simple) == 1) {
      clauses = others;
      --i;
      continue;
    }
    clauses[i] = simple;
  }
  std::sort(clauses.begin(), clauses.end(), [&](const UOp* a, const UOp* b) {
    // Vectors of constants come last, as scalar constants do in any op. On one loop, splats come
    // before clauses whose lanes differ.
    const bool va = a->op == Op::kVConst, vb = b->op == Op::kVConst;
    if (va != vb) return vb;
    const int64_t la = Level(a, rc), lb = Level(b, rc);
    if (la != lb) return la < lb;
    const bool sa = a->op == Op::kSplat, sb = b->op == Op::kSplat;
    return sa != sb ? sa : rc.order.Compare(a, b) < 0;
  });
  if (clauses.empty()) return rewrite::UniformConst(rc.ctx, u->dtype, 1);
  // Groups the clauses of each loop into one condition, so that gates that differ only in other
  // loops share it.
  const UOp *all = nullptr, *here = nullptr;
  // Each conjunction that is built here is recorded as canonical: its clauses have been simplified
  // under all clauses, so that a rule that visits it has nothing to do.
  const auto add = [&](const UOp*& to, const UOp* v) {
    to = to ? rc.ctx.Make(Op::kAnd, u->dtype, {to, v}) : v;
    if (to->op == Op::kAnd) rc.canonical_gates.Insert(to);
  };
  for (size_t i = 0; i < clauses.size(); ++i) {
    if (i > 0 && clauses[i] == clauses[i - 1]) continue;
    if (i > 0 && Level(clauses[i], rc) != Level(clauses[i - 1], rc)) {
      add(all, here);
      here = nullptr;
    }
    add(here, clauses[i]);
  }
  add(all, here);
  return all;
}

const UOp* FoldGatedIndex(const UOp* u, rewrite::RuleContext& rc) {
  if (u->num_srcs < 3) return nullptr;
  const UOp* position = SimplifyUnder(u->src(2), u->src(1), rc);
  if (position == u->src(1)) return nullptr;
  if (!position) {
    const UOp* never = rewrite::UniformConst(rc.ctx, u->src(2)->dtype, 0);
    return never == u->src(2) ? nullptr
                              : rc.ctx.Make(Op::kIndex, u->dtype, {u->src(0), u->src(1), never});
  }
  return rc.ctx.Make(Op::kIndex, u->dtype, {u->src(0), position, u->src(2)});
}

const UOp* FoldGatedWhere(const UOp* u, rewrite::RuleContext& rc) {
  if (!u->dtype.is_int_or_index() && !u->dtype.is_bool()) return nullptr;
  const UOp* gate = u->src(0);
  const UOp* yes = SimplifyUnder(gate, u->src(1), rc);
  if (!yes) return u->src(2);
  const UOp* no = u->src(2);
  if (gate->op != Op::kAnd) {
    no = SimplifyUnder(NotGate(gate, rc), no, rc);
    if (!no) return yes;
  }
  if (yes == u->src(1) && no == u->src(2)) return nullptr;
  return rc.ctx.Make(Op::kWhere, u->dtype, {gate, yes, no});
}

}  // namespace tg::simplify
