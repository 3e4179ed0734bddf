#include "passes/lower/staging.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "ir/arithmetic.h"
#include "ir/check.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/simplify/affine_expr.h"

namespace tg {
namespace {

void Subtract(std::vector<const UOp*>& from, const std::vector<const UOp*>& what) {
  std::erase_if(from,
                [&](const UOp* u) { return std::find(what.begin(), what.end(), u) != what.end(); });
}

}  // namespace

const UOp* Staging::CopyTransposed(const UOp* address, const UOp* x) {
  constexpr int64_t kMinSide = 4;
  if (x->op != Op::kLoad || x->num_srcs != 1 || StrideOf(x) != 1) return nullptr;
  const UOp* read = x->src(0);
  const DType to_type = address->dtype, from_type = read->dtype;
  if (read->op != Op::kIndex || read->num_srcs != 2 || from_type.is_image() ||
      from_type.scalar() != x->dtype.scalar() || to_type.scalar() != x->dtype.scalar() ||
      BitWidth(x->dtype.scalar()) < 32 || !free_.UnrollsOf(read->src(0)).empty()) {
    return nullptr;
  }
  const std::vector<const UOp*> unrolls = free_.UnrollsOf(read);
  if (unrolls.size() < 2 || free_.UnrollsOf(address) != unrolls) return nullptr;
  std::optional<AffineExpr> to = ParseAffine(address->src(1)), from = ParseAffine(read->src(1));
  if (!to || !from) return nullptr;
  struct Lanes {
    int64_t to, from, size;
  };
  std::vector<Lanes> rows, columns;
  const auto take = [&](AffineExpr& form, const UOp* unroll) {
    const auto* term = llvm::find_if(form.terms, [&](const auto& t) { return t.node == unroll; });
    const int64_t coef = term == form.terms.end() ? 0 : term->coef;
    if (coef != 0) form.terms.erase(term);
    return coef;
  };
  for (const UOp* u : unrolls) {
    const int64_t there = take(*to, u), here = take(*from, u);
    rows.push_back({there, here, u->word(1)});
  }
  for (const AffineExpr* form : {&*to, &*from}) {
    for (const AffineExpr::Term& term : form->terms) {
      if (!free_.UnrollsOf(term.node).empty()) return nullptr;
    }
  }
  // Columns are the lanes that are contiguous in the memory that is read, rows the lanes that are
  // contiguous in the memory that is written.
  int64_t num_columns = 1, num_rows = 1;
  const auto follows = [&](const Lanes& l) { return l.from == num_columns; };
  for (auto next = rows.begin(); (next = llvm::find_if(rows, follows)) != rows.end();) {
    num_columns *= next->size;
    columns.push_back(*next);
    rows.erase(next);
  }
  llvm::sort(rows, [](const Lanes& a, const Lanes& b) { return a.to < b.to; });
  for (const Lanes& l : rows) {
    if (l.to != num_rows || l.from != num_rows * rows[0].from) return nullptr;
    num_rows *= l.size;
  }
  if (num_rows < kMinSide || num_columns < kMinSide) return nullptr;
  for (const Lanes& l : columns) {
    if (l.to != l.from * columns[0].to) return nullptr;
  }
  const int64_t attr[] = {num_rows, num_columns, columns[0].to, rows[0].from};
  if (attr[2] < num_rows || attr[2] > INT32_MAX || std::abs(attr[3]) > INT32_MAX) return nullptr;
  const auto first = [&](const UOp* pointer, const AffineExpr& form) {
    const UOp* sum = b_.Index(form.constant);
    for (const AffineExpr::Term& t : form.terms) {
      sum = b_.Add(sum, b_.Mul(t.node, b_.Index(t.coef)));
    }
    return b_.IndexPtr(pointer, sum);
  };
  const UOp* const srcs[] = {first(address->src(0), *to), first(read->src(0), *from)};
  return b_.context().Make(Op::kCopyTransposed, kVoid, srcs,
                           b_.context().MakeAttr(Op::kCopyTransposed, attr));
}

const UOp* Staging::At(const UOp* pointer, const StagedMemory& memory, const UOp* element,
                       const UOp* gate) {
  const UOp* first = memory.step == 1 ? element : b_.Mul(element, b_.Index(memory.step));
  return b_.IndexPtr(pointer, b_.Add(memory.start, first), gate);
}

bool Staging::LanesBeside(const UOp* staged, const std::vector<const UOp*>& lanes) const {
  NodeSet inside;  // reduces that the staged value depends on
  for (const UOp* u : PostOrder(staged)) {
    if (u->op == Op::kReduceAxis) inside.Insert(u);
  }
  bool alone = true;
  for (size_t i = 0; i < nest_.axes.size(); ++i) {
    const LoopAxis& axis = nest_.axes[i];
    const bool unrolled = axis.kind == AxisKind::kUnroll || axis.kind == AxisKind::kUpcast ||
                          axis.kind == AxisKind::kVector;
    const bool is_lane = llvm::any_of(
        lanes, [&](const UOp* lane) { return lane->word() == static_cast<int64_t>(i); });
    if (is_lane && axis.kind == AxisKind::kVector) return true;
    const UOp* reduce = nest_.base[axis.base].reduce;
    if (unrolled && !is_lane && !(reduce && inside.Contains(reduce))) alone = false;
  }
  return alone;
}

StagedMemory Staging::Fill(const UOp* staged, const UOp* x, int64_t size, const UOp* element,
                           const UOp* gate, const Axes& axes,
                           const std::vector<const UOp*>& locals) {
  TG_CHECK(x->dtype.lanes() == 1);
  std::vector<const UOp*> lanes = free_.UnrollsOf(x), outer = free_.RangesOf(x);
  Subtract(lanes, axes.unrolls);
  Subtract(outer, axes.ranges);
  const bool shared = axes.is_local || !axes.specials.empty();
  int64_t count = 1;
  const UOp* start = LaneNumber(b_, lanes, count);
  const bool lanes_beside = !shared && LanesBeside(staged, lanes);
  const StagedMemory beside = {nullptr, start, count},
                     apart = {nullptr, b_.Mul(start, b_.Index(size)), 1};
  StagedMemory memory = lanes_beside && axes.unrolls.empty() ? beside : apart;
  count = SaturatingMul(count, size);
  if (shared) {
    // Work-items that differ in other local ids stage different values, so that each has a part of
    // the buffer.
    std::vector<const UOp*> others = locals;
    Subtract(others, axes.specials);
    for (const UOp* l : others) {
      memory.start = b_.Add(b_.Mul(l, b_.Index(count)), memory.start);
      count = SaturatingMul(count, l->src(0)->word());
    }
  }
  // Two buffers need only one barrier per iteration: what is read in one iteration is overwritten
  // two iterations later, and in between all work-items pass the barrier of the next iteration.
  if (axes.alternates) {
    const UOp* turn = b_.Alu(Op::kFloorMod, {axes.alternates, b_.Index(2)});
    memory.start = b_.Add(b_.Mul(turn, b_.Index(count)), memory.start);
    count = SaturatingMul(count, 2);
    std::erase(outer, axes.alternates);
  }
  const AddrSpace space = shared ? AddrSpace::kLocal : AddrSpace::kReg;
  const UOp* mem = b_.Scratch(DType::Pointer(x->dtype.scalar(), count, space));
  const UOp* before = mem;
  if (!outer.empty() && shared) {
    // The next iteration must not overwrite what others still read.
    const UOp* wait = b_.context().Make(Op::kBarrier, kVoid, UOpSpan(outer.data(), outer.size()));
    before = b_.After(mem, UOpSpan(&wait, 1));
  } else if (!outer.empty()) {
    before = b_.After(mem, outer);
  }
  if (axes.alternates) before = b_.After(before, UOpSpan(&axes.alternates, 1));
  const UOp* done = nullptr;
  // Without loops the buffer is in registers, and there is no array to copy to.
  if (!shared && !gate && !target_.is_gpu && !axes.ranges.empty()) {
    for (const StagedMemory& kept : {beside, apart}) {
      if (done || (kept.step != 1 && !lanes_beside)) continue;
      done = CopyTransposed(At(before, kept, element, nullptr), x);
      if (done) memory = kept;
    }
  }
  if (!done) done = b_.Store(At(before, memory, element, gate), x);
  if (!axes.ranges.empty()) done = b_.End(done, axes.ranges);
  if (shared) done = b_.context().Make(Op::kBarrier, kVoid, {done});
  memory.filled = b_.After(mem, UOpSpan(&done, 1));
  return memory;
}

const UOp* Staging::Read(const StagedMemory& memory, const UOp* element, const UOp* gate) {
  return b_.Load(At(memory.filled, memory, element, gate));
}

}  // namespace tg
