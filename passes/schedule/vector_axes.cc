#include "passes/schedule/vector_axes.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::schedule {
namespace {

int64_t WidestOf(const ScheduleBuilder& t) {
  int64_t bytes = 1;
  for (const analysis::Access& a : t.accesses()) {
    bytes = std::max(bytes, ByteSize(a.node->src(0)->dtype.scalar()));
  }
  return std::max<int64_t>(1, t.target().alu_width / bytes);
}

}  // namespace

VectorAxes::VectorAxes(const ScheduleBuilder& builder) : t_(builder), widest_(WidestOf(builder)) {
  const std::vector<analysis::BaseAxis>& bases = t_.nest().base;
  for (const analysis::BaseAxis& b : bases) {
    const UOp* node = t_.ReduceOf(b);
    if (node && !llvm::is_contained(reduces_, node)) reduces_.push_back(node);
  }
  // A reduce inside of others varies along their axes.
  const auto depth = [&](const UOp* node) {
    size_t axes = 0;
    for (size_t n = 0; n < bases.size(); ++n) axes += t_.ReduceOf(bases[n]) && VariesOver(node, n);
    return axes;
  };
  for (const analysis::Access& a : t_.accesses()) {
    const UOp* of = nullptr;
    for (size_t n = 0; n < bases.size(); ++n) {
      const UOp* node = a.stride[n] == 0 ? nullptr : t_.ReduceOf(bases[n]);
      if (node && (!of || depth(node) > depth(of))) of = node;
    }
    reduce_of_.push_back(of);
  }
}

std::vector<size_t> VectorAxes::ByContiguity(const loop_nest::AxisList& axes) const {
  std::vector<std::tuple<bool, int64_t, size_t>> ranked;
  for (size_t i : axes) {
    if (Along(i) == 1) continue;
    int64_t contiguous = 0;
    if (t_.nest().axes[i].kind == AxisKind::kStage) contiguous = t_.IsInnermost(i) ? 1 : -1;
    for (const analysis::Access& a : t_.accesses()) {
      const auto stride = t_.Stride(a, i);
      if (stride == 1 || (stride != 0 && t_.IsInterleaved(a, i))) {
        ++contiguous;
      } else if (stride != 0) {
        --contiguous;
      }
    }
    ranked.emplace_back(2 * Along(i) >= Widest(), contiguous, i);
  }
  llvm::sort(ranked, std::greater<>());
  std::vector<size_t> out;
  for (const auto& [fills, contiguous, i] : ranked) out.push_back(i);
  return out;
}

size_t VectorAxes::LastAxis(const UOp* reduce) const {
  size_t last = kNoAxis;
  for (size_t i : t_.Axes(AxisKind::kReduce)) {
    if (t_.nest().base[t_.nest().axes[i].base].reduce == reduce) last = i;
  }
  return last;
}

bool VectorAxes::IsShort(size_t axis) const {
  const passes::Target& target = t_.target();
  if (axis == kNoAxis || t_.IsSymbolic(axis) || HoldsReduce(axis) || t_.HasLanes(axis))
    return false;
  const size_t base = t_.nest().axes[axis].base;
  const bool decides = llvm::any_of(t_.accesses(), [&](const analysis::Access& a) {
    return !a.is_store() && (a.masked[base] || !t_.Stride(a, axis));
  });
  return t_.Size(axis) <= (decides ? target.window : target.short_terms);
}

bool VectorAxes::VariesOver(const UOp* reduce, size_t base) const {
  for (size_t n = 0; n < t_.nest().base.size(); ++n) {
    if (t_.nest().base[n].reduce != reduce) continue;
    if (n == base || (t_.nest().varies[n] & analysis::LoopBit(base)) != 0) return true;
  }
  return false;
}

bool VectorAxes::HoldsReduce(size_t axis) const {
  const UOp* own = t_.nest().base[t_.nest().axes[axis].base].reduce;
  return llvm::any_of(reduces_, [&](const UOp* r) { return r != own && Varies(r, axis); });
}

bool VectorAxes::GathersAlong(size_t axis) const {
  for (size_t i = 0; i < t_.accesses().size(); ++i) {
    const auto stride = t_.Stride(t_.accesses()[i], axis);
    if (reduce_of_[i] && stride != 0 && stride != 1) return true;
  }
  return false;
}

}  // namespace tg::schedule
