#include "passes/lower/staging.h"

#include <algorithm>

#include "ir/arithmetic.h"
#include "ir/check.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {
namespace {

void Subtract(std::vector<const UOp*>& from, const std::vector<const UOp*>& what) {
  std::erase_if(from,
                [&](const UOp* u) { return std::find(what.begin(), what.end(), u) != what.end(); });
}

}  // namespace

const UOp* Staging::At(const UOp* pointer, const StagedMemory& memory, const UOp* element,
                       const UOp* gate) {
  const UOp* first = memory.step == 1 ? element : b_.Mul(element, b_.Index(memory.step));
  return b_.IndexPtr(pointer, b_.Add(memory.start, first), gate);
}

bool Staging::LanesBeside(const UOp* staged, const std::vector<const UOp*>& lanes) const {
  NodeSet inside;  // reduces that it is made of
  for (const UOp* u : PostOrder(staged)) {
    if (u->op == Op::kReduceAxis) inside.Insert(u);
  }
  bool alone = true;
  for (size_t i = 0; i < schedule_.axes.size(); ++i) {
    const ScheduledAxis& axis = schedule_.axes[i];
    const bool unrolled = axis.kind == AxisKind::kUnroll || axis.kind == AxisKind::kUpcast ||
                          axis.kind == AxisKind::kVector;
    const bool is_lane = llvm::any_of(
        lanes, [&](const UOp* lane) { return lane->word() == static_cast<int64_t>(i); });
    if (is_lane && axis.kind == AxisKind::kVector) return true;
    const UOp* reduce = schedule_.base[axis.base].reduce;
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
  const bool shared = !axes.specials.empty();
  int64_t count = 1;
  const UOp* start = LaneNumber(b_, lanes, count);
  const bool beside = !shared && axes.unrolls.empty() && LanesBeside(staged, lanes);
  const int64_t step = beside ? count : 1;
  if (!beside) start = b_.Mul(start, b_.Index(size));
  count = SaturatingMul(count, size);
  if (shared) {
    // Work-items that differ in other local ids keep values of their own.
    std::vector<const UOp*> others = locals;
    Subtract(others, axes.specials);
    for (const UOp* l : others) {
      start = b_.Add(b_.Mul(l, b_.Index(count)), start);
      count = SaturatingMul(count, l->src(0)->word());
    }
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
  StagedMemory memory = {mem, start, step};
  const UOp* done = b_.Store(At(before, memory, element, gate), x);
  if (!axes.ranges.empty()) done = b_.End(done, axes.ranges);
  if (shared) done = b_.context().Make(Op::kBarrier, kVoid, {done});
  memory.filled = b_.After(mem, UOpSpan(&done, 1));
  return memory;
}

const UOp* Staging::Read(const StagedMemory& memory, const UOp* element, const UOp* gate) {
  return b_.Load(At(memory.filled, memory, element, gate));
}

}  // namespace tg
