#include "passes/simplify/gated_values.h"

#include <algorithm>
#include <cmath>

#include "ir/value.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/rewrite/build.h"
#include "passes/rewrite/engine.h"
#include "passes/simplify/assume.h"
#include "passes/simplify/gate.h"
#include "passes/simplify/value_nodes.h"

namespace tg::simplify {
namespace {

// The greatest size of a branch, in nodes; longer ones are left unchanged to bound the cost.
constexpr size_t kMaxBranchNodes = 48;

const UOp* GateOf(const UOp* load) {
  const UOp* address = load->src(0);
  return address->op == Op::kIndex && address->num_srcs == 3 ? address->src(2) : nullptr;
}

bool IsZeroValue(const UOp* u) { return rewrite::UniformBits(u) == 0; }

// Whether `u` is a positive, finite float constant, so that 0 * u is exactly 0. The flag zero-mul
// does not help: it permits replacing a product by 0, but the caller replaces a 0 by a product.
bool IsPositive(const UOp* u) {
  const auto bits = rewrite::UniformBits(u);
  if (!bits) return false;
  const double v = DoubleFromBits(u->dtype.scalar(), *bits);
  return v > 0 && std::isfinite(v);
}

// Whether `gate` is found to imply `clause`.
bool Implies(const UOp* gate, const UOp* clause, rewrite::RuleContext& rc) {
  if (gate->dtype != clause->dtype) return false;
  const UOp* simple = SimplifyUnder(gate, clause, rc);
  return simple && rewrite::UniformBits(simple) == 1;
}

// Whether the last of `nodes` is 0, and not -0.0, wherever `clause` does not hold.
bool IsZeroWithout(const UOp* clause, const NodeList& nodes, rewrite::RuleContext& rc) {
  llvm::SmallPtrSet<const UOp*, 32> zero;
  for (const UOp* u : nodes) {
    const auto is_zero = [&](size_t i) { return zero.contains(u->src(i)); };
    bool known = false;
    switch (u->op) {
      case Op::kConst:
      case Op::kVConst:
        known = IsZeroValue(u);
        break;
      case Op::kLoad:
        known = GateOf(u) && (u->num_srcs == 1 || IsZeroValue(u->src(1))) &&
                Implies(GateOf(u), clause, rc);
        break;
      case Op::kWhere:
        known = is_zero(2) && (is_zero(1) || Implies(u->src(0), clause, rc));
        break;
      case Op::kMul:
        known = u->dtype.is_float() ? (is_zero(0) && (is_zero(1) || IsPositive(u->src(1)))) ||
                                          (is_zero(1) && IsPositive(u->src(0)))
                                    : is_zero(0) || is_zero(1);
        break;
      case Op::kAdd:
      case Op::kSub:
      case Op::kMax:
      case Op::kMin:
        known = is_zero(0) && is_zero(1);
        break;
      case Op::kCast:
      case Op::kSqrt:
        known = is_zero(0);
        break;
      default:
        break;
    }
    if (known) zero.insert(u);
  }
  return zero.contains(nodes.back());
}

// Sets *rest to the conjunction of the clauses of `gate` except `clause`, or to null if no other is
// left. Returns false if `clause` is none of them. Clauses are compared as nodes: sources are
// simplified before their users and an `and` has its clauses in structural order, so equal gates
// are the same node.
bool Without(const UOp* gate, const UOp* clause, rewrite::RuleContext& rc, const UOp** rest) {
  Clauses clauses;
  if (!SplitAnd(gate, clauses)) return false;
  const auto own = std::find(clauses.begin(), clauses.end(), clause);
  if (own == clauses.end()) return false;
  clauses.erase(own);
  *rest = JoinAnd(clauses, rc);
  return true;
}

// The loads among `nodes` under a gate.
NodeList GatedLoads(const NodeList& nodes) {
  NodeList loads;
  for (const UOp* u : nodes) {
    if (u->op == Op::kLoad && GateOf(u)) loads.push_back(u);
  }
  return loads;
}

}  // namespace

const UOp* DropImpliedGate(const UOp* u, rewrite::RuleContext& rc) {
  const UOp *gate = u->src(0), *value = u->src(1);
  // On bools such a `where` is an `and`, which other rules simplify.
  if (!IsZeroValue(u->src(2)) || u->dtype.is_bool() || value->num_srcs == 0) return nullptr;
  const NodeList nodes = NodesOf(value, kMaxBranchNodes);
  // Without any of these ops, IsZeroWithout finds nothing.
  const auto gated = [](const UOp* n) {
    return n->op == Op::kWhere || (n->op == Op::kLoad && GateOf(n));
  };
  if (std::none_of(nodes.begin(), nodes.end(), gated)) return nullptr;
  Clauses clauses, remaining;
  if (!SplitAnd(gate, clauses)) return nullptr;
  for (const UOp* c : clauses) {
    if (!IsZeroWithout(c, nodes, rc)) remaining.push_back(c);
  }
  if (remaining.size() == clauses.size()) return nullptr;
  if (remaining.empty()) return value;
  return rc.ctx.Make(Op::kWhere, u->dtype, {JoinAnd(remaining, rc), value, u->src(2)});
}

const UOp* JoinBranchLoads(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* gate = u->src(0);
  if (gate->op == Op::kAnd || !rc.nested) return nullptr;
  const NodeList yes = NodesOf(u->src(1), kMaxBranchNodes);
  const NodeList no = NodesOf(u->src(2), kMaxBranchNodes);
  const NodeList yes_loads = GatedLoads(yes), no_loads = GatedLoads(no);
  if (yes_loads.empty() || no_loads.empty()) return nullptr;
  // The negation in the form in which it occurs as a clause of the loads' gates.
  const auto simple = rc.nested->Rewrite(NotGate(gate, rc));
  if (!simple.ok()) return nullptr;
  const UOp* not_gate = *simple;
  for (const UOp* a : yes_loads) {
    const UOp* rest = nullptr;
    if (!Without(GateOf(a), gate, rc, &rest)) continue;
    for (const UOp* b : no_loads) {
      const UOp* its = nullptr;
      const bool alike = a->dtype == b->dtype && a->attr == b->attr && a->num_srcs == b->num_srcs &&
                         a->src(0)->src(0) == b->src(0)->src(0) &&
                         (a->num_srcs == 1 || a->src(1) == b->src(1));
      if (!alike || !Without(GateOf(b), not_gate, rc, &its) || its != rest) continue;
      const UOp *i = a->src(0)->src(1), *j = b->src(0)->src(1);
      const UOp* position = nullptr;
      if (SimplifyUnder(not_gate, i, rc) == j) position = i;
      if (SimplifyUnder(gate, j, rc) == i) position = j;
      if (!position) continue;
      const UOp* address =
          rest ? rc.ctx.Make(Op::kIndex, a->src(0)->dtype, {a->src(0)->src(0), position, rest})
               : rc.ctx.Make(Op::kIndex, a->src(0)->dtype, {a->src(0)->src(0), position});
      const UOp* load = rest && a->num_srcs > 1
                            ? rc.ctx.Make(Op::kLoad, a->dtype, {address, a->src(1)}, a->attr)
                            : rc.ctx.Make(Op::kLoad, a->dtype, {address}, a->attr);
      return rc.ctx.Make(Op::kWhere, u->dtype,
                         {gate, Replace(rc, yes, {{a, load}}), Replace(rc, no, {{b, load}})});
    }
  }
  return nullptr;
}

}  // namespace tg::simplify
