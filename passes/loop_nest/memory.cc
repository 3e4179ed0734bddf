// The memory that a loop nest needs: of staged values, copies and partial results.
#include <algorithm>
#include <map>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::loop_nest {

int64_t LoopNest::StagedBytes() const {
  std::map<const UOp*, int64_t> bytes;
  for (const analysis::BaseAxis& b : base) {
    if (!b.staged) continue;
    int64_t& own = bytes.try_emplace(b.staged, ByteSize(b.staged->dtype.scalar())).first->second;
    own = SaturatingMul(own, b.max_size);
  }
  for (const LoopAxis& a : axes) {
    if (a.owned && base[a.base].staged) bytes[base[a.base].staged] /= a.max_size;
  }
  int64_t sum = 0;
  for (const auto& [node, own] : bytes) sum = SaturatingAdd(sum, own);
  return sum;
}

int64_t LoopNest::LocalBytes() const {
  int64_t sum = PackedBytes(/*in_local_memory=*/true);
  if (llvm::none_of(axes, [](const LoopAxis& a) { return a.Exchanges(); })) return sum;
  NodeSet seen;
  for (size_t i = 0; i < base.size(); ++i) {
    const UOp* node = base[i].reduce ? base[i].reduce : base[i].staged;
    if (!node || !seen.Insert(node)) continue;
    // Each work-item of a group has a partial result of a reduce. Work-items that compute a staged
    // value together have one copy of it.
    int64_t copies = GroupSize();
    bool shared = false;
    for (size_t a : AxesOf(node)) {
      if (!axes[a].Exchanges()) continue;
      shared = true;
      if (base[i].staged) copies /= axes[a].max_size;
    }
    if (!shared) continue;
    int64_t bytes = SaturatingMul(copies, ByteSize(node->dtype.scalar()));
    for (size_t k = i; base[i].staged && k < base.size(); ++k) {
      if (base[k].staged == node) bytes = SaturatingMul(bytes, base[k].max_size);
    }
    for (const LoopAxis& a : axes) {
      const bool lanes =
          a.kind == AxisKind::kUnroll || a.kind == AxisKind::kUpcast || a.kind == AxisKind::kVector;
      if (lanes && (varies[i] & analysis::LoopBit(a.base)) != 0)
        bytes = SaturatingMul(bytes, a.max_size);
    }
    sum = SaturatingAdd(sum, bytes);
  }
  return sum;
}

bool LoopNest::IsInside(size_t axis, size_t at) const {
  switch (axes[axis].kind) {
    case AxisKind::kGlobal:
    case AxisKind::kLocal:
    case AxisKind::kGroup:
      return false;
    default:
      return axis > at;
  }
}

bool LoopNest::IsCopied(const Copy& copy, size_t axis) const {
  if ((copy.varies & analysis::LoopBit(axes[axis].base)) == 0) return false;
  const AxisKind kind = axes[axis].kind;
  if (kind == AxisKind::kLocal || kind == AxisKind::kGroup) return copy.is_local;
  return IsInside(axis, AxisNamed(copy.at));
}

int64_t LoopNest::CopyBytes(const Copy& copy) const {
  int64_t row = ByteSize(copy.node->dtype.scalar());
  // Each reduce that reads the value has a separate copy of it. If one of them is part of another
  // reduce, a single copy has an element for each pair of their terms.
  bool nested = false;
  llvm::SmallVector<std::pair<const UOp*, int64_t>, 4> terms;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!IsCopied(copy, i)) continue;
    const UOp* reduce = base[axes[i].base].reduce;
    if (!reduce) {
      row = SaturatingMul(row, axes[i].max_size);
      continue;
    }
    auto of = llvm::find_if(terms, [&](const auto& t) { return t.first == reduce; });
    if (of == terms.end()) of = terms.insert(of, {reduce, 1});
    of->second = SaturatingMul(of->second, axes[i].max_size);
    nested |= !IsOutermost(axes[i].base);
  }
  int64_t rows = terms.empty() || nested ? 1 : 0;
  for (const auto& [reduce, elements] : terms) {
    rows = nested ? SaturatingMul(rows, elements) : SaturatingAdd(rows, elements);
  }
  int64_t bytes = SaturatingMul(row, rows);
  // More than two buffers have no padding (lower::Skew).
  if (copy.is_local && !terms.empty() && copy.buffers <= 2) {
    // In a copy for matrix instructions, a row may have the elements for one result instead.
    const int64_t results = row / ByteSize(copy.node->dtype.scalar());
    const int64_t padded = !matrices.empty() ? std::max(rows, results) : rows;
    bytes = SaturatingAdd(bytes, SaturatingMul(padded, kRowPadding));
  }
  return SaturatingMul(copy.buffers, bytes);
}

int64_t LoopNest::PackedBytes(bool in_local_memory) const {
  int64_t sum = 0;
  for (const Copy& copy : copies) {
    if (copy.is_local == in_local_memory) sum = SaturatingAdd(sum, CopyBytes(copy));
  }
  return sum;
}

}  // namespace tg::loop_nest
