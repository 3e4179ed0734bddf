// Why a value is stored.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/kernelize/planning_round.h"

namespace tg {

DependsOnStaged DependsOnStaged::By(const FusionFacts& known, const CostModel& cost) const {
  DependsOnStaged out{node, kernel};
  out.answer = kernel && cost.ExpressionCostOf(node).reduces &&
               !cost.CostAboveStaged(node).reduces && known.keepers.Contains(kernel);
  if (out.answer) out.above = cost.CostAboveStaged(node);
  return out;
}

StagingDecision StagingDecision::By(const NodeSet& realized, CostModel& cost) const {
  StagingDecision out = *this;
  const double seconds = cost.ComputeSeconds({.weight = cost.WeightAbove(node, realized)}, times);
  out.kept = seconds + other_seconds > cost.NearSeconds(node);
  return out;
}

double Planner::Evaluations(UseId use) {
  const UOp* kernel = uses_.KernelOf(use);
  const LoopSet parallel = uses_.OuterLoops(kernel) & ~kernels_[kernel].serial;
  return uses_.Iterations(kernel, parallel | uses_.ComputedIn(use));
}

std::string Planner::Decide(const UOp* u) {
  const bool gather = gathers_.Is(u);
  const bool reduce = u->op == Op::kReduceAxis && !gather;
  const UseList& uses = node_uses_[u];
  if (uses.empty() || (!reduce && !gather && !IsElementwise(u->op))) return "";
  double evaluations = 0;
  for (UseId use : uses) evaluations += Evaluations(use);
  const double size = cost_.Elements(u);
  const ExpressionCost& expression = cost_.ExpressionCostOf(u);
  // Arithmetic on places is no memory's business, unless the ways to it multiply.
  if (uses.size() > kMaxUses) return absl::StrCat("used in ", uses.size(), " ways");
  if (!expression.reads && !expression.reduces &&
      expression.weight <= CostModel::kIndexArithmeticWeight)
    return "";
  if (uses.size() > 1 || evaluations > size) {
    const bool again = DependsOnlyOnStaged(u);
    const auto how = [&] {
      return absl::StrCat("used in ", uses.size(), uses.size() == 1 ? " way, " : " ways, ",
                          static_cast<int64_t>(evaluations), " times for ",
                          static_cast<int64_t>(size), " elements");
    };
    if (expression.reduces && !options_.fuse) return how();
    if (expression.reduces && expression.weight > CostModel::kFreeReduce) {
      bool repeated = false;
      if (FusesRows(u, &repeated)) return "";
      if (!again) {
        std::string reason = how();
        if (Keeps(u, reason)) return "";
        if (repeated) facts_.stored.push_back(u);
        return reason;
      }
    }
    // Repeat the work, or write the value once and read it.
    double repeat =
        cost_.ComputeSeconds(again ? cost_.CostAboveStaged(u) : expression, evaluations - size);
    if (!again) repeat += cost_.TermSeconds(u, evaluations - size);
    // What its rows share would have to be stored in its stead.
    if (LosesRows(uses)) repeat += expression.rows * target_.launch_seconds;
    if (repeat > cost_.StoreSeconds(u)) return how();
    // A row-fused kernel has the row at hand. What the last round stored it reads again as quickly.
    const bool rows = kernels_[uses_.KernelOf(uses[0])].serial != 0;
    if (rows && uses.size() > 1 && repeat > cost_.NearSeconds(u)) {
      const double times = evaluations - size;
      const StagingDecision unknown{u, times, repeat - cost_.ComputeSeconds(expression, times)};
      const bool keeps =
          again || staging_decisions_.emplace_back(unknown.By(known_.realized, cost_)).kept;
      if (keeps) Keeps(u, how());
    }
  }
  if (uses.size() != 1) return "";
  const UOp* kernel = uses_.KernelOf(uses[0]);
  const LoopSet serial = kernels_[kernel].serial;
  if (reduce) {
    if (!options_.fuse && !kernels_[kernel].reduces.empty()) return "beside another reduce";
    if (serial == 0 && (known_.crowding.Contains(u) || CrowdsOut(u, kernel, size))) {
      return "beside a reduce of other operands";
    }
    if (uses_.Varies(uses[0]) & serial && expression.weight > kHeavyReduce) {
      return absl::StrCat("a sum of ", static_cast<int64_t>(expression.terms), " terms in a loop");
    }
  } else if (serial != 0 || !JoinsReduces(u)) {
    return "";
  }
  // A reduce inside another one runs only as often in parallel as the outer kernel's results.
  const double parallel = uses_.Iterations(kernel, uses_.OuterLoops(kernel) & ~serial);
  const double items = parallel * RowItems(target_, parallel, size / parallel);
  const double seconds = cost_.ReduceSeconds(u, size) + expression.row_seconds;
  // One core makes one of them after the other, with an addition for each that waits for the one
  // before: a quarter of its speed.
  constexpr double kInTurn = 4;
  double lost = seconds * (target_.is_gpu ? 1 : kInTurn) *
                (1 / Utilization(target_, parallel, size / parallel) -
                 1 / Utilization(target_, size, expression.terms));
  // So does every core inside another reduce, since results that are added up cannot be a tile.
  if (!target_.is_gpu && size > parallel) {
    lost = std::max(lost, cost_.ComputeSeconds(expression, size) * (kInTurn - 1));
  }
  // Else what its rows share might have to be stored in its stead.
  const bool frees = size >= 4 * items || (size > parallel && expression.rows > 0);
  if (serial == 0 && frees && lost > cost_.StoreSeconds(u)) {
    return absl::StrCat("computed with ", static_cast<int64_t>(items), " work-items otherwise");
  }
  return "";
}

bool Planner::DependsOnlyOnStaged(const UOp* u) {
  if (!cost_.ExpressionCostOf(u).reduces) return false;
  const UseList& uses = node_uses_[u];
  const UOp* kernel = uses_.KernelOf(uses[0]);
  const bool one = std::all_of(uses.begin(), uses.end(),
                               [&](UseId use) { return uses_.KernelOf(use) == kernel; });
  queried_.push_back(DependsOnStaged{u, one ? kernel : nullptr}.By(known_, cost_));
  return queried_.back().answer;
}

bool Planner::JoinsReduces(const UOp* u) const {
  return llvm::count_if(u->srcs(),
                        [&](const UOp* s) { return cost_.ExpressionCostOf(s).reduces; }) > 1;
}

template <typename F>
bool Planner::ForEachOperand(const UOp* reduce, F&& see) const {
  constexpr int kLarge = 256;
  llvm::SmallPtrSet<const UOp*, 32> seen;
  llvm::SmallVector<const UOp*, 32> stack = {reduce->src(0)};
  for (int steps = 0; !stack.empty(); ++steps) {
    const UOp* u = stack.pop_back_val();
    if (steps == kLarge) return false;
    if (!seen.insert(u).second) continue;
    if (IsElementwise(u->op)) {
      stack.append(u->srcs().begin(), u->srcs().end());
    } else if (IsMovement(u->op)) {
      stack.push_back(u->src(0));
    } else if (!IsConst(u) && u->op != Op::kIota && !see(u)) {
      return false;
    }
  }
  return true;
}

bool Planner::CrowdsOut(const UOp* u, const UOp* kernel, double size) {
  // If a launch may execute several kernels, this one can share the launch of another.
  const bool joins = target_.fused_launches > 1;
  // To store it takes less than these of the reduces' seconds: of each, and of all of them.
  const double small_part = joins ? 1.0 / 3 : 1.0 / 7;
  const double small_part_of_all = joins ? 1.0 / 15 : 1.0 / 40;
  const auto& others = kernels_[kernel].reduces;
  if (others.empty() || size != cost_.Elements(kernel)) return false;
  const double store = cost_.StoreSeconds(u) - (joins ? target_.launch_seconds : 0);
  double all = 0;
  const auto is_long = [&](const UOp* reduce) {
    const double seconds = cost_.ComputeSeconds(cost_.ExpressionCostOf(reduce), size);
    all += seconds;
    return store < small_part * seconds;
  };
  if (!is_long(u) || !llvm::all_of(others, is_long) || store >= small_part_of_all * all)
    return false;
  llvm::SmallPtrSet<const UOp*, 16> operands;
  operands.insert(u);  // what reads it has an operand in common
  bool few = ForEachOperand(u, [&](const UOp* s) {
    operands.insert(s);
    return !llvm::is_contained(others, s);
  });
  for (const UOp* other : others) {
    few = few && ForEachOperand(other, [&](const UOp* s) { return !operands.contains(s); });
  }
  if (!few || !joins || others.size() > 1 || DepthOf(u) <= DepthOf(others[0])) return few;
  // The one that waits for fewer kernels is stored in its stead, in the next round.
  facts_.crowding.Insert(others[0]);
  crowds_ = true;
  return false;
}

int Planner::DepthOf(const UOp* u) {
  if (depths_.Get(u) == 0) {
    for (const UOp* node : order_) {
      int depth = 1;
      for (const UOp* s : node->srcs()) depth = std::max(depth, depths_.Get(s));
      depths_[node] = depth + (node->op == Op::kReduceAxis ? 1 : 0);
    }
  }
  return depths_.Get(u);
}

}  // namespace tg
