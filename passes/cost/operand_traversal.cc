#include "passes/cost/operand_traversal.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::cost {
namespace {

// The number of different elements that the loops access, by ascending strides; iterations of
// different loops may access the same element.
double DistinctElements(const StridedLoops& steps) {
  double count = 1;
  int64_t reach = 1;  // elements from the first one accessed to the end of the last one
  for (const auto& [stride, size] : steps) {
    if (stride == 0) continue;
    const int64_t whole = SaturatingAdd(SaturatingMul(stride, size - 1), reach);
    count *= static_cast<double>(size);
    if (stride < reach) count = std::min(count, static_cast<double>(whole));
    reach = whole;
  }
  return count;
}

}  // namespace

void Traversal::SetInnerTerms(StridedLoops terms) {
  llvm::sort(terms);
  has_window = llvm::any_of(terms, [&](const auto& step) {
    return step.first != 0 && step.first <= tiled &&
           SaturatingMul(step.first, step.second - 1) >= tiled;
  });
  inner_terms = std::move(terms);
}

StridedLoops Traversal::AllSteps(int64_t terms, int64_t lines, int64_t steps) const {
  StridedLoops all = inner_terms;
  for (const auto& step : {std::pair(outer_term, terms), {line, lines}, {tiled, steps}}) {
    all.insert(llvm::upper_bound(all, step), step);
  }
  return all;
}

Traversal::CacheLines Traversal::LinesRead(int64_t terms, int64_t lines, int64_t steps,
                                           int64_t line_elements) const {
  CacheLines out;
  int64_t run = 1;  // elements from the first one of a run to its end
  for (const auto& [stride, size] : AllSteps(terms, lines, steps)) {
    if (stride <= std::max(run, line_elements)) {
      run = SaturatingAdd(run, SaturatingMul(stride, size - 1));
    } else if (size > 1) {
      out.count *= static_cast<double>(size);
      if (out.distance == 0) out.distance = stride;
    }
  }
  out.count *= static_cast<double>(CeilDiv(run, line_elements));
  return out;
}

double Traversal::Elements(int64_t terms, int64_t lines, int64_t steps) const {
  const StridedLoops all = AllSteps(terms, lines, steps);
  if (!in_lanes || tiled == 1 || !has_window) return DistinctElements(all);
  double count = 1;
  for (const auto& step : all) count *= step.first == 0 ? 1 : static_cast<double>(step.second);
  return count;
}

}  // namespace tg::cost
