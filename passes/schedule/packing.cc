#include "passes/schedule/packing.h"

#include <algorithm>
#include <cstdlib>

#include "ir/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/vectorization_cost.h"

namespace tg {
namespace {

// Each group packs for itself, so there are no more groups than balance between cores needs.
int64_t FewestGroups(const ScheduleBuilder& t) { return int64_t{4} * t.target().compute_units; }

// Groups of rows: two for each core, since each computes the staged values that all of its rows
// share.
int64_t GroupsOfRows(const ScheduleBuilder& t) { return int64_t{2} * t.target().compute_units; }

// Makes loops of `same`, base axes of what is stored, but keeps parts of them global until there
// are `wanted` groups; `groups`: how many the other axes make. `deals`: the parts need not divide
// an axis.
void LoopOverSame(ScheduleBuilder& t, LoopSet same, int64_t groups, int64_t wanted, bool deals) {
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const LoopSet bit = LoopBit(t.schedule().axes[i].base);
    if ((same & bit) == 0 || groups >= wanted) continue;
    int64_t parts = std::min((wanted + groups - 1) / groups, t.Size(i));
    while (!deals && t.Size(i) % parts != 0) ++parts;
    const bool even = t.Size(i) % parts == 0;
    if (parts != t.Size(i) &&
        !(even ? t.Try("loop", i, t.Size(i) / parts) : t.Try("distribute_cyclic", i, parts))) {
      continue;
    }
    same &= ~bit;
    groups *= parts;
  }
  t.LoopAlong(same);
}

// Whether consecutive steps along this axis write to the same cache line, each less than half of
// it.
bool SharesLines(const ScheduleBuilder& t, size_t axis) {
  return llvm::any_of(t.accesses(), [&](const Access& a) {
    if (!a.is_store()) return false;
    const int64_t distance =
        std::abs(t.Stride(a, axis).value_or(0)) * ByteSize(a.node->src(1)->dtype.scalar());
    return distance != 0 && distance < t.target().cache_line / 2;
  });
}

// Limit of the copy of one load for the lanes of one vector: what may be read again from a core's
// cache.
int64_t MaxPackedBytes(const Target& target) { return target.core_cache_bytes; }

}  // namespace

int64_t VectorizationCost::PackedUses(size_t access, size_t axis, int64_t vectors) const {
  const Access& a = t_.accesses()[access];
  const BaseAxis& along = t_.schedule().base[t_.schedule().axes[axis].base];
  const auto stride = t_.Stride(a, axis);
  // A contiguous load needs no packing.
  if (shared_ != 0 || a.is_store() || !along.IsStored() || stride == 0 || stride == 1) return 0;
  const UOp* reduce = reduce_of_[access];
  const int64_t lanes = Along(axis) * vectors;
  if (!reduce || Along(axis) < Widest()) return 0;
  int64_t uses = 1, own = 1, blocks = 1, terms = 1;
  for (size_t n = 0; n < t_.schedule().base.size(); ++n) {
    const BaseAxis& base = t_.schedule().base[n];
    if (base.size.is_symbolic()) return 0;
    const bool varies = a.stride[n] != 0;
    if (base.IsStored()) {
      (varies ? blocks : uses) *= base.max_size;
    } else if (base.reduce == reduce) {
      terms *= varies ? base.max_size : 1;
    } else if (varies) {
      return 0;
    } else if (base.reduce && VariesOver(reduce, n)) {
      own *= base.max_size;  // the pixels of a mean, which other groups cannot share
    }
  }
  for (size_t n = 0; n < t_.accesses().size(); ++n) {
    const bool is_other = t_.accesses()[n].node == a.node && n != access;
    if (is_other && !ReadAlike(access, n)) return 0;
  }
  // Each element of the load is a term of one result along the lanes, unlike the elements of a
  // window.
  int64_t elements = 1;
  for (const Dim& d : t_.ShapeOf(a.node)) elements *= d.is_symbolic() ? 0 : d.value();
  if (elements != blocks * terms) return 0;
  if (terms * lanes * ByteSize(a.node->dtype.scalar()) > MaxPackedBytes(t_.target())) return 0;
  if (!t_.MayPack() || (own > 1 && blocks / lanes * uses < GroupsOfRows(t_))) return 0;
  const int64_t parts = std::max<int64_t>(1, FewestGroups(t_) * lanes / blocks);
  return own == 1 ? uses / parts : own * std::max<int64_t>(1, uses / parts);
}

bool VectorizationCost::ReadAlike(size_t access, size_t other) const {
  const Access &a = t_.accesses()[access], &b = t_.accesses()[other];
  const UOp *of_a = reduce_of_[access], *of_b = reduce_of_[other];
  if (!of_a || !of_b || of_a == of_b || a.is_gated || b.is_gated) return false;
  std::vector<std::pair<int64_t, int64_t>> terms_of_a, terms_of_b;  // stride, steps
  for (size_t n = 0; n < t_.schedule().base.size(); ++n) {
    const UOp* reduce = t_.schedule().base[n].reduce;
    const int64_t steps = t_.schedule().base[n].max_size;
    if (!a.stride[n] || !b.stride[n]) return false;
    const int64_t in_a = *a.stride[n], in_b = *b.stride[n];
    if (reduce == of_a) {
      if (in_b != 0) return false;
      terms_of_a.emplace_back(in_a, steps);
    } else if (reduce == of_b) {
      if (in_a != 0) return false;
      terms_of_b.emplace_back(in_b, steps);
    } else if (in_a != in_b) {
      return false;
    }
  }
  return terms_of_a == terms_of_b;
}

void LoopOverPacked(ScheduleBuilder& t, Own own) {
  const auto same = [&](size_t i) {
    return llvm::all_of(t.accesses(), [&](const Access& a) {
      return !llvm::is_contained(t.packed(), a.node) || t.Stride(a, i) == 0;
    });
  };
  LoopSet along = 0, in_lines = 0;
  int64_t groups = 1, steps = 1, pieces = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const LoopSet bit = LoopBit(t.schedule().axes[i].base);
    if (same(i)) {
      along |= bit, steps *= t.Size(i);
    } else if (SharesLines(t, i)) {
      in_lines |= bit, pieces *= t.Size(i);
    } else {
      groups *= t.Size(i);
    }
  }
  // Groups that write to the same cache lines exchange these lines. One group writes whole lines
  // instead, with a copy for each part, if enough groups are left.
  if (groups * steps >= FewestGroups(t))
    t.LoopAlong(in_lines);
  else
    groups *= pieces;
  const int64_t parts = PartsInCache(t, along, own);
  LoopOverSame(t, along, groups, std::max(FewestGroups(t), groups * parts), /*deals=*/false);
  if (parts == 1) return;
  // The groups of a part are consecutive.
  const AxisList globals = t.Axes(AxisKind::kGlobal);
  const auto is_part = [&](size_t i) { return (along & LoopBit(t.schedule().axes[i].base)) != 0; };
  const auto part = llvm::find_if(globals, is_part);
  if (part == globals.end() || part == globals.begin()) return;
  t.TryWith("swap", globals.front(), t.schedule().axes[*part].name);
}

std::optional<PackedRows> FindPackedRows(const ScheduleBuilder& t) {
  // Sums of more vectors gain little, and a copy that serves fewer rows does not pay.
  constexpr int64_t kMaxVectors = 24, kMinRows = 32;
  constexpr int64_t kMaxRows = 8;  // rows that are computed together
  if (t.target().is_gpu || !t.MayPack() || t.SharedAlong() == 0) return std::nullopt;
  const VectorizationCost lanes(t, 0);
  for (size_t n = 0; n < t.accesses().size(); ++n) {
    const Access& a = t.accesses()[n];
    const UOp* reduce = lanes.ReduceOf(n);
    const auto is_other = [&](const Access& other) { return &other != &a && other.node == a.node; };
    if (a.is_store() || !reduce || a.is_gated || llvm::any_of(t.accesses(), is_other)) continue;
    int64_t rows = 1, blocks = 1, terms = 1;
    size_t along = kNoAxis;
    bool fits = true;
    for (size_t i = 0; fits && i < t.schedule().axes.size(); ++i) {
      const BaseAxis& base = t.schedule().base[t.schedule().axes[i].base];
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
    const int64_t parts = (GroupsOfRows(t) + blocks - 1) / blocks;
    if (!fits || along == kNoAxis || rows / parts < kMinRows) continue;
    const int64_t width = lanes.Along(along), sums = t.Size(along);
    const int64_t bytes = sums * terms * ByteSize(a.node->dtype.scalar());
    const bool worth = width == lanes.Widest() && terms <= kMaxVectors * width;
    const int64_t kept = SaturatingMul(t.schedule().StagedBytes(), kMaxRows);
    const bool fits_memory = SaturatingAdd(bytes, kept) <= t.target().private_memory;
    if (worth && fits_memory && bytes <= t.target().cache_bytes) {
      return PackedRows{a.node, sums, *t.Stride(a, along), width};
    }
  }
  return std::nullopt;
}

bool LoopOverStaged(ScheduleBuilder& t, LoopSet shared) {
  LoopSet same = 0;
  int64_t groups = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const LoopSet bit = LoopBit(t.schedule().axes[i].base);
    if ((shared & bit) != 0) continue;
    bool kept = false;
    for (size_t n = 0; n < t.schedule().base.size(); ++n) {
      kept |= t.schedule().base[n].staged && (t.schedule().varies[n] & bit) == 0;
    }
    if (kept && !t.IsSymbolic(i)) {
      same |= bit;
    } else {
      groups *= t.Size(i);
    }
  }
  if (same == 0) return false;
  LoopOverSame(t, same, groups, GroupsOfRows(t), /*deals=*/true);
  return true;
}

bool PackedFits(const Schedule& schedule, size_t loads, const Target& target) {
  int64_t lanes = 1;
  for (const ScheduledAxis& axis : schedule.axes) {
    if (axis.kind == AxisKind::kVector) lanes *= axis.max_size;
  }
  return SaturatingMul(schedule.StagedBytes(), lanes) <=
         static_cast<int64_t>(loads) * MaxPackedBytes(target);
}

}  // namespace tg
