// Decides how a contraction's axes take part in the axes of the kernel that it is fused into, and
// that a kernel has one product of matrices, so that it is a tile of matrix instructions.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/contractions.h"
#include "passes/kernelize/planning_round.h"
#include "passes/kernelize/row_shape.h"

namespace tg::kernelize {
namespace {

// Whether each digit is the whole counter of a loop over an axis of `shape`, in the order of
// row_shape.h, and no two axes of the value depend on one loop.
bool AreWhole(const std::vector<analysis::AxisLoops>& axes, const Shape& shape) {
  llvm::SmallVector<Dim, 8> sizes;
  llvm::copy_if(shape, std::back_inserter(sizes), [](const Dim& d) { return !d.Is(1); });
  analysis::LoopSet seen = 0;
  for (const analysis::AxisLoops& axis : axes) {
    analysis::LoopSet own = 0;
    for (const analysis::LoopDigit& digit : axis.digits) {
      if (digit.loop >= sizes.size() || sizes[digit.loop].is_symbolic()) continue;
      own |= analysis::LoopBit(digit.loop);
      if (digit.stride != 1 || digit.size < sizes[digit.loop].value()) return false;
    }
    if ((seen & own) != 0) return false;
    seen |= own;
  }
  return true;
}

}  // namespace

std::string Planner::DivideResults(const UOp* u, UseId use) {
  if (!IsContraction(u, shapes_)) return "";
  const UOp* kernel = uses_.KernelOf(use);
  llvm::SmallVector<analysis::LoopDigit, 8> digits;
  bool exact = true;
  for (const analysis::AxisLoops& axis : uses_.Loops(use)) {
    exact = exact && axis.exact &&
            llvm::none_of(axis.digits, [](const analysis::LoopDigit& d) { return d.symbol; });
    digits.append(axis.digits.begin(), axis.digits.end());
  }
  const Shape known = facts_.rows.Get(kernel);
  const Shape& now = known.empty() ? shapes_.Of(kernel) : known;
  if (AreWhole(uses_.Loops(use), now)) {
    kernels_[kernel].divided = !known.empty();
    return "";
  }
  Shape cut = exact ? CutAtDigits(now, digits) : now;
  if (cut != now) {
    kernels_[kernel].divided = true;
    facts_.rows[kernel] = std::move(cut);
    cuts_ = true;
    return "";
  }
  const double multiply_adds = cost_.Elements(u->src(0));
  const double lost = cost::UnsharedLoadSeconds(multiply_adds, target_);
  return lost > cost_.StoreSeconds(u) ? "its axes are no parts of the kernel's" : "";
}

const UOp* Planner::TopOf(const UOp* reduce) const {
  const UOp* top = reduce;
  for (const UOp* u = reduce; users_.Get(u) == 1;) {
    const UOp* user = last_user_.Get(u);
    const bool moves = user->op == Op::kReshape || user->op == Op::kPermute;
    const bool joins = llvm::any_of(
        user->srcs(), [&](const UOp* s) { return s != u && cost_.ExpressionCostOf(s).reduces; });
    if (!moves && (!IsElementwise(user->op) || joins || cost_.IsFreeWidening(user))) break;
    u = user;
    if (!moves) top = u;
  }
  return top;
}

void Planner::KeepOneProduct(const UOp* u) {
  if (!target_.HasMatrixInstructions() || !options_.fuse || !IsMatrixProduct(u->src(0), shapes_)) {
    return;
  }
  // What the kernel's products take longer without a tile.
  const auto untiled = [&](const UOp* reduce) {
    return cost::UnsharedLoadSeconds(cost_.Elements(reduce->src(0)), target_) +
           cost_.MatrixSeconds(reduce);
  };
  const UseList& uses = node_uses_[u];
  bool alone = uses.size() == 1;
  double lost = untiled(u);
  for (UseId use : uses) {
    const KernelState& kernel = kernels_[uses_.KernelOf(use)];
    if (kernel.serial != 0) return;
    for (const UOp* other : kernel.reduces) {
      if (other == u || !IsMatrixProduct(other->src(0), shapes_)) continue;
      alone = false;
      lost += untiled(other);
    }
  }
  const UOp* top = TopOf(u);
  if (alone || fused_.Contains(top) || lost < cost_.StoreSeconds(top)) return;
  cuts_ |= facts_.products.Insert(top);
}

}  // namespace tg::kernelize
