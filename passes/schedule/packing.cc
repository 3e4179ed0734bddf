#include "passes/schedule/packing.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/vector_axes.h"

namespace tg::schedule {
namespace {

// The wanted number of groups of rows: two per core, and no more, because each group computes again
// the staged values that its rows share.
int64_t GroupsOfRows(const ScheduleBuilder& t) { return int64_t{2} * t.target().compute_units; }

// Makes loops of `same`, base axes of what is stored, but keeps parts of them global until there
// are `wanted` groups; `groups`: how many the other axes make.
void LoopOverSame(ScheduleBuilder& t, analysis::LoopSet same, int64_t groups, int64_t wanted) {
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const analysis::LoopSet bit = analysis::LoopBit(t.nest().axes[i].base);
    if ((same & bit) == 0 || groups >= wanted) continue;
    int64_t parts = std::min(CeilDiv(wanted, groups), t.Size(i));
    while (t.Size(i) % parts != 0) ++parts;
    if (parts != t.Size(i) && !t.Try<directive::Loop>(i, t.Size(i) / parts)) continue;
    same &= ~bit;
    groups *= parts;
  }
  t.LoopAlong(same);
}

}  // namespace

std::optional<PackedRows> FindPackedRows(const ScheduleBuilder& t) {
  constexpr int64_t kMinRows = 32;  // that read a copy, or it does not pay
  if (!t.target().HasVectors() || t.nest().IsInPlace() || t.SharedAlong() == 0) return std::nullopt;
  const VectorAxes lanes(t);
  for (size_t n = 0; n < t.accesses().size(); ++n) {
    const analysis::Access& a = t.accesses()[n];
    const UOp* reduce = lanes.ReduceOf(n);
    const auto is_other = [&](const analysis::Access& other) {
      return &other != &a && other.node == a.node;
    };
    if (a.is_store() || !reduce || a.is_gated || llvm::any_of(t.accesses(), is_other)) continue;
    int64_t rows = 1, blocks = 1, terms = 1;
    size_t along = kNoAxis;
    bool fits = true;
    for (size_t i = 0; fits && i < t.nest().axes.size(); ++i) {
      const analysis::BaseAxis& base = t.nest().base[t.nest().axes[i].base];
      const std::optional<int64_t> stride = t.Stride(a, i);
      fits = stride && !base.size.is_symbolic();
      if (stride == 0) {
        rows *= base.IsStored() && lanes.Varies(reduce, i) ? base.max_size : 1;
      } else if (base.IsStored()) {
        blocks *= base.max_size;
      } else if (base.reduce) {
        fits &= base.reduce == reduce;
        terms *= base.max_size;
      } else {
        fits &= along == kNoAxis && stride != 1;
        along = i;
      }
    }
    const int64_t parts = CeilDiv(GroupsOfRows(t), blocks);
    if (!fits || along == kNoAxis || rows / parts < kMinRows) continue;
    const int64_t sums = t.Size(along), width = PowerOfTwoDivisor(sums, lanes.Widest());
    const int64_t bytes = sums * terms * ByteSize(a.node->dtype.scalar());
    // Adding up the lanes of a sum takes the time of several vectors, about the number that hides a
    // latency. If a sum has more than twice that number, this is a small part, and a copy gains
    // little.
    const int64_t most = 2 * t.target().fma_accumulators * width;
    const bool worth = width == lanes.Widest() && terms <= most;
    const int64_t staged_bytes = SaturatingMul(t.nest().StagedBytes(), RowsTogether(t.target()));
    const bool fits_memory = SaturatingAdd(bytes, staged_bytes) <= t.target().private_memory;
    if (worth && fits_memory && bytes <= t.target().cache_bytes) {
      return PackedRows{a.node, sums, *t.Stride(a, along), width};
    }
  }
  return std::nullopt;
}

bool LoopOverStaged(ScheduleBuilder& t, analysis::LoopSet shared) {
  analysis::LoopSet same = 0;
  int64_t groups = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const analysis::LoopSet bit = analysis::LoopBit(t.nest().axes[i].base);
    if ((shared & bit) != 0) continue;
    bool reuses_staged = false;
    for (size_t n = 0; n < t.nest().base.size(); ++n) {
      reuses_staged |= t.nest().base[n].staged && (t.nest().varies[n] & bit) == 0;
    }
    if (reuses_staged && !t.IsSymbolic(i)) {
      same |= bit;
    } else {
      groups *= t.Size(i);
    }
  }
  if (same == 0) return false;
  LoopOverSame(t, same, groups, GroupsOfRows(t));
  return true;
}

}  // namespace tg::schedule
