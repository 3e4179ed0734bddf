// Decides which values stay in a row-fused kernel, where they are computed once per row.
#include <algorithm>

#include "passes/cost/bounds.h"
#include "passes/kernelize/planning_round.h"
#include "passes/kernelize/row_shape.h"

namespace tg::kernelize {

bool Planner::LosesRows(const UseList& uses) {
  const UOp* kernel = uses_.KernelOf(uses[0]);
  return std::any_of(uses.begin(), uses.end(), [&](UseId use) {
    const analysis::LoopSet repeats = uses_.OuterLoops(kernel) & ~uses_.Varies(use);
    return uses_.KernelOf(use) != kernel || (kernels_[kernel].reduced & repeats) != 0;
  });
}

bool Planner::FusesRows(const UOp* u, bool* repeated, double* in_place) {
  const UseList& uses = node_uses_[u];
  const UOp* kernel = uses_.KernelOf(uses[0]);
  analysis::LoopSet varies = 0;
  double evaluations = 0;
  bool one_kernel = true;
  for (size_t i = 0; i < uses.size(); ++i) {
    const UOp* user = uses_.KernelOf(uses[i]);
    one_kernel &= user == kernel;
    const bool seen = std::any_of(uses.begin(), uses.begin() + i, [&](UseId other) {
      return uses_.KernelOf(other) == user && uses_.Loops(other) == uses_.Loops(uses[i]);
    });
    if (seen) continue;
    varies |= uses_.Varies(uses[i]);
    evaluations += uses_.Iterations(user, uses_.ComputedIn(uses[i]));
  }
  if (evaluations > cost_.Elements(u)) {
    *repeated = !one_kernel || !CutsRows(u, kernel);
    return false;
  }
  if (!one_kernel) return false;
  KernelState& state = kernels_[kernel];
  const analysis::LoopSet outer = uses_.OuterLoops(kernel),
                          serial = state.serial | (outer & ~varies);
  // The results of a product form a register tile, so that they must not be computed one after the
  // other.
  if (state.reduced & serial) return false;
  const double parallel = uses_.Iterations(kernel, outer & ~serial);
  // The work that the work-items of a group share: a row of results, or otherwise the terms of the
  // reduce that reads the value, or of the value's own reduce.
  const double row = serial                   ? uses_.Iterations(kernel, serial)
                     : evaluations > parallel ? evaluations / parallel
                                              : cost_.ExpressionCostOf(u).terms;
  const double busy = cost::RowUtilization(target_, parallel, row);
  // The work-items of a row compute its results as well, however few terms the reduce has.
  const double seconds =
      std::max(cost_.ReduceSeconds(u, evaluations), cost_.WriteSeconds(u, parallel * row));
  const double idle = cost::IdleSeconds(seconds, busy);
  *in_place = std::min(*in_place, idle);
  if (!StaysInPlace(u) && idle > cost_.StoreSeconds(u)) return false;
  state.serial = serial;
  return true;
}

bool Planner::Stages(const UOp* u, const std::string& reason, double* in_place) {
  if (!options_.keep || u->dtype.is_index()) return false;
  UseList& uses = node_uses_[u];
  const UOp* kernel = uses_.KernelOf(uses[0]);
  for (UseId use : uses) {
    if (uses_.KernelOf(use) != kernel) return false;
  }
  const analysis::LoopSet outer = uses_.OuterLoops(kernel);
  const Shape& shape = shapes_.Of(u);
  analysis::LoopSet in_step = 0;
  std::vector<int64_t> axes;  // the axes of its buffer
  std::vector<const analysis::AxisLoops*> along;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k].Is(1)) continue;
    along.clear();
    for (UseId use : uses) along.push_back(&uses_.Loops(use)[k]);
    if (!analysis::IsCountedAlike(shape[k], along, outer)) {
      axes.push_back(static_cast<int64_t>(k));
      continue;
    }
    for (const analysis::LoopDigit& d : along[0]->digits) in_step |= analysis::LoopBit(d.loop);
  }
  if (axes.empty()) return false;
  const analysis::LoopSet serial = kernels_[kernel].serial;
  if ((outer & ~in_step & ~serial) != 0) return false;
  const double staged_elements = cost_.Elements(u) / uses_.Iterations(kernel, in_step);
  if (staged_elements * static_cast<double>(ByteSize(u->dtype.scalar())) >
      cost_.StagingCapacityBytes())
    return false;
  const double parallel = uses_.Iterations(kernel, outer & ~serial);
  const double lost =
      cost_.StagingSeconds(u, parallel, staged_elements, serial ? staged_elements : 1) +
      cost_.MatrixSeconds(u);
  *in_place = std::min(*in_place, lost);
  if (!StaysInPlace(u) && lost > cost_.StoreSeconds(u)) return false;
  staged_[u] = {kernel, reason};
  stages_ |= !known_.staged.Contains(u);
  facts_.staged.Insert(u);
  facts_.staging_kernels.Insert(kernel);
  const UseId first = uses[0];
  uses.clear();
  uses.push_back(uses_.Staged(first, u, axes));
  return true;
}

bool Planner::CutsRows(const UOp* u, const UOp* kernel) {
  llvm::SmallVector<analysis::LoopDigit, 8> digits, own;
  double evaluations = 0;
  for (UseId use : node_uses_[u]) {
    double iterations = 1;
    own.clear();
    for (const analysis::AxisLoops& axis : uses_.Loops(use)) {
      if (!axis.exact) return false;
      for (const analysis::LoopDigit& d : axis.digits) {
        if (d.symbol) return false;
        if (std::find(own.begin(), own.end(), d) != own.end()) continue;
        own.push_back(d);
        iterations *= static_cast<double>(d.size);
      }
    }
    evaluations += own == digits ? 0 : iterations;
    digits.append(own.begin(), own.end());
  }
  if (evaluations > cost_.Elements(u)) return false;
  const Shape& whole = shapes_.Of(kernel);
  Shape& rows = facts_.rows[kernel];
  Shape cut = CutAtDigits(rows.empty() ? whole : rows, digits);
  if (cut == (rows.empty() ? whole : rows)) return false;
  rows = std::move(cut);
  cuts_ = true;
  return true;
}

}  // namespace tg::kernelize
