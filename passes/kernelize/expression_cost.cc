#include "passes/kernelize/expression_cost.h"

#include <algorithm>

#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/matrix_product.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/materialization.h"

namespace tg::kernelize {

double CostModel::Elements(const UOp* u) {
  double& known = elements_[u];
  if (known == 0) {
    double n = 1;
    for (const Dim& d : shapes_.Of(u)) {
      n *= static_cast<double>(analysis::MaxExtent(module_, *body_.context, d));
    }
    known = n;
  }
  return known;
}

void CostModel::ComputeExpressionCosts(UOpSpan order, const std::vector<const UOp*>& stored,
                                       const NodeSet& staged) {
  NodeSet leaves;
  for (const UOp* u : stored) leaves.Insert(u);
  if (stored.size() != num_stored_) ComputeExpressionCosts(order, leaves, expressions_);
  num_stored_ = stored.size();
  any_staged_ = false;
  for (const UOp* u : order) {
    if (staged.Contains(u)) any_staged_ |= leaves.Insert(u);
  }
  if (any_staged_) ComputeExpressionCosts(order, leaves, above_staged_);
}

bool CostModel::IsFreeWidening(const UOp* u) const {
  // Tiles and packed panels widen an element where they load it, not once for each product, and a
  // stored copy in the wider type would be slower to load. A CPU widens halves slowly. A matrix
  // instruction reads halves.
  if (u->op != Op::kCast) return false;
  const Scalar to = u->dtype.scalar(), from = u->src(0)->dtype.scalar();
  const bool integers = IsInt(from) && IsInt(to) && ByteSize(from) < ByteSize(to);
  const bool halves = IsFloat(from) && ByteSize(from) == 2 && to == Scalar::kF32;
  return integers || (halves && target_.HidesWaits());
}

const UOp* CostModel::SourceOfWidening(const UOp* cast) {
  bool repeats = false;
  const UOp* u = cast->src(0);
  for (; u->op == Op::kExpand || u->op == Op::kReshape || u->op == Op::kPermute; u = u->src(0)) {
    repeats |= u->op == Op::kExpand;
  }
  return repeats ? u : cast->src(0);
}

double CostModel::OwnWeight(const UOp* u, bool reads) const {
  if (IsFreeWidening(u)) return 0;
  if (IsElementwise(u->op)) return passes::OpWeight(u->op);
  // A load with a gate is not a vector load, so a pad of loaded values is costly.
  if (u->op == Op::kPad) return reads ? target_.gate_weight : 1;
  if (u->op == Op::kReduceAxis && reads && gathers_.Is(u)) return target_.gate_weight;
  return 0;
}

double CostModel::WeightAbove(const UOp* u, const NodeSet& stored) const {
  const ExpressionCost& whole = ExpressionCostOf(u);
  double weight = OwnWeight(u, whole.reads);
  llvm::SmallVector<const UOp*, 16> stack(u->srcs().begin(), u->srcs().end());
  while (!stack.empty() && weight < whole.weight) {
    const UOp* s = stack.pop_back_val();
    const ExpressionCost& expression = ExpressionCostOf(s);
    if (expression.weight == 0 || stored.Contains(s)) continue;
    if (expression.reduces || !expression.reads) {
      weight += expression.weight;
      continue;
    }
    weight += OwnWeight(s, expression.reads);
    stack.append(s->srcs().begin(), s->srcs().end());
  }
  return std::min(weight, whole.weight);
}

void CostModel::ComputeExpressionCosts(UOpSpan order, const NodeSet& leaves,
                                       NodeMap<ExpressionCost>& expressions) {
  expressions.Reserve(body_.context->num_nodes());
  for (const UOp* u : order) {
    ExpressionCost& expression = expressions[u] = {};
    const bool buffer = IsStored(u) || u->op == Op::kContiguous || u->op == Op::kAssign;
    expression.reads = buffer || (u->num_srcs == 0 && u->op != Op::kConst && u->op != Op::kIota);
    if (buffer) continue;
    for (const UOp* s : u->srcs()) {
      if (leaves.Contains(s)) {
        expression.reads = true;
        continue;
      }
      const ExpressionCost source = expressions[s];
      expression.reads |= source.reads;
      expression.rows = std::max(expression.rows, source.rows);
      expression.row_seconds = std::max(expression.row_seconds, source.row_seconds);
      expression.weight = std::min(expression.weight + source.weight, 1e9);
      expression.terms = std::max(expression.terms, source.terms);
      expression.reduces |= source.reduces;
    }
    expression.weight += OwnWeight(u, expression.reads);
    // A small tensor of constants costs at most one select per element.
    if (!expression.reads && !expression.reduces)
      expression.weight = std::min(expression.weight, Elements(u));
    if (u->op == Op::kReduceAxis && !gathers_.Is(u)) {
      const double terms = Elements(u->src(0)) / std::max(1.0, Elements(u));
      expression.reduces = true;
      expression.weight = std::min((expression.weight + 1) * terms, 1e12);
      expression.terms = std::min(expression.terms * terms, 1e12);
    }
    // Below an expand that repeats elements, a reduce is stored, or computed once for all of them
    // in a row-fused kernel.
    const bool repeats = u->op == Op::kExpand && Elements(u) > Elements(u->src(0));
    if (repeats && expression.reduces) {
      const double own = ComputeSeconds(expression, Elements(u->src(0)));
      expression = {.reads = expression.reads,
                    .rows = expression.rows + 1,
                    .row_seconds = expression.row_seconds + own};
    }
  }
}

double CostModel::StoreSeconds(const UOp* u) {
  return cost::StoredSeconds(Elements(u) * static_cast<double>(ByteSize(u->dtype.scalar())),
                             target_);
}

double CostModel::WriteSeconds(const UOp* u, double elements) const {
  return cost::TransferSeconds(elements * static_cast<double>(ByteSize(u->dtype.scalar())),
                               target_);
}

double CostModel::ComputeSeconds(const ExpressionCost& expression, double evaluations) const {
  return cost::ArithmeticSeconds(evaluations * expression.weight, target_);
}

double CostModel::ReduceSeconds(const UOp* u, double evaluations) const {
  return ComputeSeconds(ExpressionCostOf(u), evaluations) +
         WriteSeconds(u, evaluations * ExpressionCostOf(u).terms);
}

double CostModel::StagingCapacityBytes() const {
  // A group has rows of work-items, and each of these a tile of rows.
  const auto rows = static_cast<double>(target_.tile_side * target_.tile_side);
  if (target_.HidesWaits()) return static_cast<double>(target_.local_memory) / rows;
  return static_cast<double>(2 * target_.near_cache_bytes);
}

double CostModel::TermSeconds(const UOp* u, double evaluations) const {
  const ExpressionCost& expression = ExpressionCostOf(u);
  if (!expression.reduces) return 0;
  const double bytes = expression.terms * static_cast<double>(ByteSize(u->dtype.scalar()));
  return cost::CoreCacheSeconds(evaluations * bytes, target_);
}

double CostModel::NearSeconds(const UOp* u) {
  const double bytes = 2 * static_cast<double>(ByteSize(u->dtype.scalar()));
  return cost::CoreCacheSeconds(Elements(u) * bytes, target_);
}

double CostModel::StagingSeconds(const UOp* u, double parallel, double staged_elements,
                                 double row) {
  // A tile of several rows is computed together, so that they share their loads.
  const double tiles = std::max(1.0, parallel / static_cast<double>(target_.tile_side));
  double seconds =
      cost::IdleSeconds(ReduceSeconds(u, Elements(u)), cost::RowUtilization(target_, tiles, row));
  const double shared = staged_elements * ExpressionCostOf(u).terms *
                        static_cast<double>(ByteSize(u->dtype.scalar()));
  if (shared > static_cast<double>(target_.cache_bytes)) {
    seconds += cost::TransferSeconds((tiles - 1) * shared, target_);
  } else if (!target_.HidesWaits() && shared > StagingCapacityBytes()) {
    seconds += cost::CoreCacheSeconds((tiles - 1) * shared, target_);
  }
  return seconds;
}

double CostModel::MatrixSeconds(const UOp* u) {
  if (!target_.HasMatrixInstructions()) return 0;
  double seconds = 0;
  llvm::SmallVector<const UOp*, 8> stack = {u};
  NodeSet seen;
  while (!stack.empty()) {
    const UOp* x = stack.pop_back_val();
    if (!seen.Insert(x) || !ExpressionCostOf(x).reduces) continue;
    if (x->op != Op::kReduceAxis) {
      stack.append(x->srcs().begin(), x->srcs().end());
      continue;
    }
    const UOp* product = x->src(0);
    if (product->op != Op::kMul || static_cast<Op>(x->word()) != Op::kAdd) continue;
    const auto instruction = analysis::InstructionOf(product, module_.flags);
    if (!instruction) continue;
    const double operations = 2 * Elements(product);
    seconds += cost::ArithmeticSeconds(operations, target_) -
               cost::MatrixSeconds(operations, instruction->RateBits(), target_);
  }
  return std::max(0.0, seconds);
}

}  // namespace tg::kernelize
