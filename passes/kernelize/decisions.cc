// Why a value is stored.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/planning_round.h"

namespace tg::kernelize {

DependsOnStaged DependsOnStaged::By(const FusionFacts& known, const CostModel& cost) const {
  DependsOnStaged out{node, kernel};
  out.answer = kernel && cost.ExpressionCostOf(node).reduces &&
               !cost.CostAboveStaged(node).reduces && known.staging_kernels.Contains(kernel);
  if (out.answer) out.above = cost.CostAboveStaged(node);
  return out;
}

StagingDecision StagingDecision::By(const NodeSet& realized, CostModel& cost) const {
  StagingDecision out = *this;
  const double seconds = cost.ComputeSeconds({.weight = cost.WeightAbove(node, realized)}, times);
  out.staged = seconds + other_seconds > cost.NearSeconds(node);
  return out;
}

double Planner::Evaluations(UseId use) {
  const UOp* kernel = uses_.KernelOf(use);
  const analysis::LoopSet parallel = uses_.OuterLoops(kernel) & ~kernels_[kernel].serial;
  return uses_.Iterations(kernel, parallel | uses_.ComputedIn(use));
}

std::string Planner::Decide(const UOp* u, double* in_place) {
  *in_place = 0;
  const bool gather = gathers_.Is(u);
  const bool reduce = u->op == Op::kReduceAxis && !gather;
  const UseList& uses = node_uses_[u];
  if (uses.empty() || (!reduce && !gather && !IsElementwise(u->op))) return "";
  if (gathers_.MustBeInPlace(u)) return "";
  double evaluations = 0;
  for (UseId use : uses) evaluations += Evaluations(use);
  const double size = cost_.Elements(u);
  const ExpressionCost& expression = cost_.ExpressionCostOf(u);
  // Index arithmetic is cheap to recompute, so it is stored only if its uses multiply.
  if (uses.size() > kMaxUses) return absl::StrCat("used in ", uses.size(), " ways");
  const bool is_index = !expression.reads && !expression.reduces;
  if (is_index && expression.weight <= FreeIndexWeight(target_)) return "";
  if (uses.size() > 1 || evaluations > size) {
    const bool again = DependsOnlyOnStaged(u);
    const auto how = [&] {
      return absl::StrCat("used in ", uses.size(), uses.size() == 1 ? " way, " : " ways, ",
                          static_cast<int64_t>(evaluations), " times for ",
                          static_cast<int64_t>(size), " elements");
    };
    if (expression.reduces && !options_.fuse) return how();
    // A short sum may be computed again at each use, if that costs less than storing it.
    const bool is_short = expression.weight <= static_cast<double>(target_.short_terms);
    if (expression.reduces && !is_short) {
      bool repeated = false;
      *in_place = cost_.ComputeSeconds(expression, evaluations - size);
      if (FusesRows(u, &repeated, in_place)) return "";
      if (!again) {
        std::string reason = how();
        if (Stages(u, reason, in_place)) return "";
        if (repeated) {
          facts_.stored.push_back(cost_.IsFreeWidening(u) ? CostModel::SourceOfWidening(u) : u);
        }
        return reason;
      }
    }
    // Compares recomputing the value with storing it once and loading it.
    double repeat =
        cost_.ComputeSeconds(again ? cost_.CostAboveStaged(u) : expression, evaluations - size);
    if (!again) repeat += cost_.TermSeconds(u, evaluations - size);
    // If row fusion is lost, the reduces that rows share must be stored in other kernels.
    if (LosesRows(uses)) repeat += cost::LaunchSeconds(expression.rows, target_);
    *in_place = repeat;
    if (repeat > cost_.StoreSeconds(u)) return how();
    // In a row-fused kernel a value with several uses may be staged, which costs less than a
    // buffer. The cost of recomputing it stops at values that the last round stored, since the
    // kernel finds these in its cache.
    const bool rows = kernels_[uses_.KernelOf(uses[0])].serial != 0;
    if (rows && uses.size() > 1 && repeat > cost_.NearSeconds(u)) {
      const double times = evaluations - size;
      const StagingDecision unknown{u, times, repeat - cost_.ComputeSeconds(expression, times)};
      const bool pays =
          again || staging_decisions_.emplace_back(unknown.By(known_.realized, cost_)).staged;
      if (pays) Stages(u, how(), in_place);
    }
  }
  if (uses.size() != 1) return "";
  const UOp* kernel = uses_.KernelOf(uses[0]);
  const analysis::LoopSet serial = kernels_[kernel].serial;
  if (reduce) {
    if (std::string reason = DivideResults(u, uses[0]); !reason.empty()) return reason;
    if (!options_.fuse && !kernels_[kernel].reduces.empty()) return "beside another reduce";
    // A single work-item may compute sums over windows in its loop, but no longer ones.
    const auto window = static_cast<double>(target_.window * target_.window);
    if (uses_.Varies(uses[0]) & serial && expression.weight > window) {
      return absl::StrCat("a sum of ", static_cast<int64_t>(expression.terms), " terms in a loop");
    }
  } else if (serial != 0 || !JoinsReduces(u)) {
    return "";
  }
  // A reduce inside another one has only the parallelism of the outer kernel's results.
  const double parallel = uses_.Iterations(kernel, uses_.OuterLoops(kernel) & ~serial);
  const double items = parallel * cost::RowItems(target_, parallel, size / parallel);
  const double seconds = cost_.ReduceSeconds(u, size) + expression.row_seconds;
  // If one core computes these results one after the other, each addition waits for the previous
  // one.
  const auto in_turn = static_cast<double>(target_.HidesWaits() ? 1 : target_.LatencyCycles());
  double lost = seconds * in_turn *
                (1 / cost::RowUtilization(target_, parallel, size / parallel) -
                 1 / cost::RowUtilization(target_, size, expression.terms));
  // The same holds for each core if the reduce is inside another one: results that are added up
  // cannot form a register tile.
  if (serial == 0 && !target_.HidesWaits() && size > parallel) {
    lost = std::max(lost, cost_.ComputeSeconds(expression, size) * (in_turn - 1));
  }
  // A reduce that rows share stays, or others might have to be stored instead. One that has several
  // results for each row is part of a staged value, and may leave.
  *in_place = lost;
  const bool frees = size >= 2 * items || (size > parallel && expression.rows > 0);
  const bool is_shared = serial != 0 && size <= parallel;
  if (!is_shared && frees && lost > cost_.StoreSeconds(u)) {
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

}  // namespace tg::kernelize
