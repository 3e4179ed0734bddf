#include "passes/lower/staging.h"

#include <algorithm>

#include "ir/arithmetic.h"
#include "ir/check.h"

namespace tg {
namespace {

void Subtract(std::vector<const UOp*>& from, const std::vector<const UOp*>& what) {
  std::erase_if(from,
                [&](const UOp* u) { return std::find(what.begin(), what.end(), u) != what.end(); });
}

}  // namespace

StagedMemory Staging::Fill(const UOp* x, int64_t size, const UOp* element, const UOp* gate,
                           const Axes& axes, const std::vector<const UOp*>& locals) {
  TG_CHECK(x->dtype.lanes() == 1);
  std::vector<const UOp*> lanes = free_.UnrollsOf(x), outer = free_.RangesOf(x);
  Subtract(lanes, axes.unrolls);
  Subtract(outer, axes.ranges);
  int64_t count = 1;
  const UOp* start = b_.Mul(LaneNumber(b_, lanes, count), b_.Index(size));
  count = SaturatingMul(count, size);
  const bool shared = !axes.specials.empty();
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
  const UOp* done = b_.Store(b_.IndexPtr(before, b_.Add(start, element), gate), x);
  if (!axes.ranges.empty()) done = b_.End(done, axes.ranges);
  if (shared) done = b_.context().Make(Op::kBarrier, kVoid, {done});
  return {b_.After(mem, UOpSpan(&done, 1)), start};
}

const UOp* Staging::Read(const StagedMemory& memory, const UOp* element, const UOp* gate) {
  return b_.Load(b_.IndexPtr(memory.filled, b_.Add(memory.start, element), gate));
}

}  // namespace tg
