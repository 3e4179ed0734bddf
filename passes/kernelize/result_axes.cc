// Decides how a contraction's axes take part in the axes of the kernel that it is fused into.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/planning_round.h"
#include "passes/kernelize/row_shape.h"
#include "passes/kernelize/softmax_product.h"

namespace tg::kernelize {
namespace {

// Whether `u` is a sum of products of two factors, each of which is repeated along some axis of the
// result, so that a tile of results shares what it loads.
bool IsContraction(const UOp* u, ShapeMap& shapes) {
  if (static_cast<Op>(u->word()) != Op::kAdd || u->src(0)->op != Op::kMul) return false;
  const UOp* product = u->src(0);
  const Shape& whole = shapes.Of(product);
  return llvm::all_of(product->srcs(), [&](const UOp* factor) {
    for (size_t k = 0; k < whole.size(); ++k) {
      const UOp* below = nullptr;
      const bool is_term = llvm::is_contained(u->list(1), static_cast<int64_t>(k));
      if (!is_term && !whole[k].Is(1) && IsRepeatedAlong(factor, k, shapes, &below)) return true;
    }
    return false;
  });
}

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
    exact = exact && axis.exact;
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

}  // namespace tg::kernelize
