#include "passes/kernelize/product_parts.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/matrix_product.h"
#include "passes/cost/bounds.h"
#include "passes/directives/directives.h"
#include "passes/kernelize/contractions.h"

namespace tg::kernelize {
namespace {

// What becomes the axes of parts: the outermost axes of terms, the last of them divided by `size`.
struct Division {
  size_t axes = 0;    // how many axes of terms
  int64_t size = 1;   // of the last one, how many parts
  int64_t parts = 1;  // of all
  double seconds = std::numeric_limits<double>::infinity();
};

// The terms whose loads a work-item issues together: those of unrolled loops.
int64_t TermsOfStep(const UOp* reduce, ShapeMap& shapes, int64_t words) {
  int64_t step = 1;
  for (int64_t a : llvm::reverse(reduce->list(1))) {
    const int64_t size = shapes.Of(reduce->src(0))[static_cast<size_t>(a)].value();
    if (size == 1) continue;
    if (size > directive::Unroll::kMost) return std::max(step, words);
    if (step > 1 && (step >= words || size >= words)) return step;
    step *= size;
  }
  return step;
}

cost::ProductSize SizeOf(const UOp* reduce, ShapeMap& shapes, const passes::Target& target,
                         ModuleFlags flags) {
  const UOp* product = reduce->src(0);
  cost::ProductSize size;
  size.bytes = ByteSize(reduce->dtype.scalar());
  size.results = NumElements(shapes.Of(reduce));
  size.terms = NumElements(shapes.Of(product)) / size.results;
  size.step = TermsOfStep(reduce, shapes, target.AccessWords());
  const auto operations = 2.0 * static_cast<double>(size.results) * static_cast<double>(size.terms);
  const auto instruction = target.HasMatrixInstructions() && IsMatrixProduct(product, shapes)
                               ? analysis::InstructionOf(product, flags)
                               : std::nullopt;
  size.arithmetic = instruction ? cost::MatrixSeconds(operations, instruction->RateBits(), target)
                                : cost::ArithmeticSeconds(operations, target);
  return size;
}

// The work-items of a group that share the terms of a result along the outermost axis of terms. If
// there are other axes, they divide it; a single one may be padded.
int64_t SharingItems(int64_t extent, bool divides, const passes::Target& target) {
  const int64_t steps = extent / (target.AccessWords() * target.least_steps);
  const int64_t most = std::clamp<int64_t>(steps, 1, target.group_items / 2);
  if (!divides) return most;
  int64_t share = 1;
  while (2 * share <= most && extent % (2 * share) == 0) share *= 2;
  return share;
}

}  // namespace

const UOp* SplitProduct(const UOp* reduce, Builder& b, ShapeMap& shapes,
                        const passes::Target& target, ModuleFlags flags) {
  const Shape from = shapes.Of(reduce->src(0)), to = shapes.Of(reduce);
  if (!target.is_gpu || !target.HidesWaits() || !IsStatic(from)) return nullptr;
  if (!IsContraction(reduce, shapes)) return nullptr;
  const cost::ProductSize product = SizeOf(reduce, shapes, target, flags);
  std::vector<size_t> axes;  // of terms, the outermost first
  for (int64_t a : reduce->list(1)) {
    if (!from[static_cast<size_t>(a)].Is(1)) axes.push_back(static_cast<size_t>(a));
  }
  llvm::sort(axes);
  if (axes.empty()) return nullptr;
  const double whole = cost::PartsSeconds(
      product, 1, SharingItems(from[axes[0]].value(), axes.size() > 1, target), target);
  // A part has the terms of a block that a group copies to its local memory.
  const int64_t most = product.terms / (2 * target.least_group_items);
  Division best;
  int64_t outer = 1;
  for (size_t n = 0; n < axes.size() && outer <= most; ++n) {
    const int64_t extent = from[axes[n]].value();
    for (int64_t size = 2; size <= extent && outer * size <= most; ++size) {
      if (extent % size != 0) continue;
      const double seconds = cost::PartsSeconds(product, outer * size, 1, target);
      if (seconds < best.seconds) best = {n + 1, size, outer * size, seconds};
    }
    outer *= extent;
  }
  if (best.seconds * (1 + target.prediction_error) >= whole) return nullptr;
  // The last axis of parts becomes two: [.., extent, ..] is reshaped to [.., size, rest, ..].
  const size_t last = axes[best.axes - 1];
  Shape wide = from;
  wide[last] = best.size;
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(last) + 1, from[last].value() / best.size);
  std::vector<int64_t> inner = {static_cast<int64_t>(last) + 1}, parts;
  for (size_t n = 0; n < axes.size(); ++n) {
    if (n < best.axes) {
      parts.push_back(static_cast<int64_t>(axes[n]));
    } else {
      inner.push_back(static_cast<int64_t>(axes[n]) + 1);
    }
  }
  const UOp* partial = b.ReduceAxis(b.Reshape(reduce->src(0), wide), Op::kAdd, inner);
  partial = b.context().Make(Op::kContiguous, partial->dtype, {partial});
  return b.Reshape(b.ReduceAxis(partial, Op::kAdd, parts), to);
}

}  // namespace tg::kernelize
