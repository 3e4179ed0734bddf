#include "passes/cost/kernel_copies.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::cost {
namespace {

// The copies of a packed value: one for each reduce that reads it, unless one of these is part of
// another. Each varies along the axes of its reduce.
std::vector<loop_nest::Copy> CopiesOf(const loop_nest::LoopNest& s, const loop_nest::Copy& value) {
  std::vector<std::pair<const UOp*, analysis::LoopSet>> of;  // reduces and their axes
  analysis::LoopSet all = 0;
  for (size_t n = 0; n < s.base.size(); ++n) {
    const UOp* reduce = s.base[n].reduce;
    if (!reduce || (value.varies & analysis::LoopBit(n)) == 0) continue;
    if (!s.IsOutermost(n)) return {value};
    auto known = llvm::find_if(of, [&](const auto& own) { return own.first == reduce; });
    if (known == of.end()) known = of.insert(of.end(), {reduce, 0});
    known->second |= analysis::LoopBit(n);
    all |= analysis::LoopBit(n);
  }
  std::vector<loop_nest::Copy> copies(std::max<size_t>(1, of.size()), value);
  for (size_t i = 0; i < of.size(); ++i) copies[i].varies = (value.varies & ~all) | of[i].second;
  return copies;
}

}  // namespace

KernelCopies::KernelCopies(const loop_nest::LoopNest& nest, const KernelNests& nests,
                           const std::vector<WorkLoop>& loops)
    : s_(nest), nests_(nests), loops_(loops) {
  for (const loop_nest::Copy& copy : s_.copies) llvm::append_range(copies_, CopiesOf(s_, copy));
}

const loop_nest::Copy* KernelCopies::Of(const UOp* node, const AxisSet& axes) const {
  const loop_nest::Copy* first = nullptr;
  for (const loop_nest::Copy& copy : copies_) {
    if (copy.node != node) continue;
    if (!first) first = &copy;
    bool reads = true;
    for (const unsigned i : axes.set_bits()) {
      const size_t base = s_.axes[i].base;
      reads &= !s_.base[base].reduce || (copy.varies & analysis::LoopBit(base)) != 0;
    }
    if (reads) return &copy;
  }
  return first;
}

std::vector<int64_t> KernelCopies::StridesIn(const loop_nest::Copy& copy) const {
  std::vector<int64_t> strides(s_.axes.size(), 0);
  int64_t row = 1;
  for (const bool lanes : {true, false}) {
    for (size_t i = s_.axes.size(); i-- > 0;) {
      if (nests_.IsLanes(i) != lanes || !s_.IsCopied(copy, i)) continue;
      strides[i] = row;
      row *= s_.axes[i].max_size;
    }
  }
  return strides;
}

double KernelCopies::DistinctPart(const loop_nest::Copy& copy,
                                  const std::vector<int64_t>& strides) const {
  double all = 1, distinct = 1, reach = 1;
  llvm::SmallVector<std::pair<int64_t, double>, 8> steps;
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    if (!s_.IsCopied(copy, i) || strides[i] == 0) continue;
    if (loops_[i].is_vector) return 1;
    steps.emplace_back(strides[i], loops_[i].trips);
  }
  llvm::sort(steps);
  for (const auto& [stride, trips] : steps) {
    const auto distance = static_cast<double>(stride);
    const double whole = distance * (trips - 1) + reach;
    all *= trips;
    distinct *= trips;
    if (distance < reach) distinct = std::min(distinct, whole);
    reach = whole;
  }
  return distinct / all;
}

bool KernelCopies::HasAdjacentTerms(const MemoryAccess& load) const {
  double side = 1, run = 1;
  llvm::SmallVector<std::pair<int64_t, double>, 8> terms;
  for (const uint16_t i : load.nest.loops) {
    if (load.strides[i] != 0 && loops_[i].is_term) {
      terms.emplace_back(load.strides[i], loops_[i].trips);
    }
  }
  for (const uint16_t i : load.nest.lanes) {
    if (loops_[i].is_vector) side = loops_[i].trips;
  }
  llvm::sort(terms);
  for (const auto& [stride, trips] : terms) {
    if (static_cast<double>(stride) == run) run *= trips;
  }
  return side > 1 && std::fmod(run, side) == 0;
}

}  // namespace tg::cost
