#include "passes/lower/stage_placement.h"

#include <array>
#include <cstdlib>
#include <optional>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/indices/rebuild.h"
#include "passes/lower/copy_transposed.h"
#include "passes/simplify/affine_sums.h"

namespace tg::lower {
namespace {

void Subtract(std::vector<const UOp*>& from, const std::vector<const UOp*>& what) {
  std::erase_if(from, [&](const UOp* u) { return llvm::is_contained(what, u); });
}

}  // namespace

const UOp* StagePlacement::Replaced(const UOp* x, NodeMap<const UOp*>& changed) {
  const UOp* to = indices::Rebuilt(body_, x, changed);
  return to == x ? x : simplify_(to);
}

StagedMemory StagePlacement::Place(StageToPlace stage) {
  if (stage.is_local && stage.specials.empty()) return FillTogether(std::move(stage));
  if (!stage.is_local) OrderFill(stage);
  return Fill(stage);
}

const UOp* StagePlacement::Address(const StagedMemory& memory, const UOp* element,
                                   const UOp* gate) {
  if (memory.chunk > 0) element = Skewed(element, memory);
  if (memory.padding > 0) {
    const UOp* row = b_.Alu(Op::kFloorDiv, {element, b_.Index(memory.row)});
    element = simplify_(b_.Add(b_.Mul(row, b_.Index(memory.padding)), element));
  }
  if (memory.step != 1) element = b_.Mul(element, b_.Index(memory.step));
  return b_.IndexPtr(memory.filled, b_.Add(memory.start, element), gate);
}

StagedMemory StagePlacement::InRows(const StageToPlace& stage, const UOp* start) const {
  StagedMemory memory = {nullptr, start, 1, stage.row, stage.padding};
  memory.of_warpgroup = stage.of_warpgroup;
  if (stage.of_warpgroup) memory.chunk = ChunkOf(stage);
  return memory;
}

const UOp* StagePlacement::MainLoad(const StageToPlace& stage) {
  const auto elements = [&](const UOp* load) {
    double count = 1;
    for (const UOp* leaf : free_.Of(load->src(0))) {
      if (leaf->op == Op::kUnroll && llvm::is_contained(stage.unrolls, leaf)) {
        count *= static_cast<double>(leaf->word(1));
      } else if (llvm::is_contained(stage.ranges, leaf) && IsConst(leaf->src(0))) {
        count *= static_cast<double>(leaf->src(0)->word());
      }
    }
    return count;
  };
  const UOp* main = nullptr;
  for (const UOp* u : PostOrder(stage.x)) {
    if (u->op != Op::kLoad || u->src(0)->op != Op::kIndex) continue;
    const DType memory = u->src(0)->dtype;
    if (memory.is_image() || memory.space() != AddrSpace::kGlobal) continue;
    if (!main || elements(u) > elements(main)) main = u;
  }
  return main;
}

void StagePlacement::OrderFill(StageToPlace& stage) {
  const UOp* const load = MainLoad(stage);
  if (!load) return;
  const std::optional<analysis::AffineExpr> address = analysis::ParseAffine(load->src(0)->src(1)),
                                            number = analysis::ParseAffine(stage.element);
  if (!address || !number) return;
  const auto stride = [&](const UOp* leaf) { return address->CoefOf(leaf); };
  // The loops read the source in the order of its addresses, so that each page and each cache line
  // is visited once.
  llvm::stable_sort(stage.ranges, [&](const UOp* a, const UOp* b) {
    return std::abs(stride(a)) > std::abs(stride(b));
  });
  const bool is_gated = load->num_srcs > 1 || load->src(0)->num_srcs > 2;
  if (is_gated || stage.unrolls.empty() || stage.ranges.empty()) return;
  if (llvm::any_of(stage.unrolls, [&](const UOp* u) { return stride(u) == 1; })) return;
  // Loops and copies inside of the value are tied to these by `after` and barriers, which take no
  // sums of them.
  const auto is_tied = [&](const UOp* u) {
    return GroupOf(u->op) == OpGroup::kOrder && llvm::any_of(u->srcs(), [&](const UOp* token) {
             return llvm::is_contained(stage.ranges, token);
           });
  };
  if (llvm::any_of(PostOrder(stage.x), is_tied)) return;
  // Whether all that is computed depends on `outer` as on `size` steps of `inner`.
  const auto counts_on = [&](const UOp* inner, const UOp* outer, int64_t size) {
    NodeMap<const UOp*> changed;
    changed[inner] = b_.Add(inner, b_.Mul(outer, b_.Index(size)));
    changed[outer] = b_.Index(0);
    return llvm::all_of(std::array{stage.x, stage.element, stage.gate},
                        [&](const UOp* u) { return !u || Replaced(u, changed) == simplify_(u); });
  };
  // Loops whose elements are contiguous in the source, but not in the copy, are merged into one
  // loop. It is then split into blocks, so that square blocks are transposed.
  std::vector<analysis::AffineExpr::Term> axes(number->terms.begin(), number->terms.end());
  llvm::stable_sort(axes, [](const auto& a, const auto& b) { return a.coef < b.coef; });
  llvm::SmallVector<const UOp*, 4> row;  // the innermost first
  int64_t size = 1;
  for (const analysis::AffineExpr::Term& axis : axes) {
    if (axis.node->op == Op::kUnroll && row.empty()) continue;
    const bool counted = llvm::is_contained(stage.ranges, axis.node) && IsConst(axis.node->src(0));
    if (!counted || stride(axis.node) != size) break;
    if (!row.empty() && !counts_on(row.front(), axis.node, size)) break;
    row.push_back(axis.node);
    size *= axis.node->src(0)->word();
  }
  // A square is at most as wide as the widest vector of OpenCL C. One of two rows is no faster than
  // its elements.
  constexpr int64_t kMaxSide = 16;
  int64_t side = kMaxSide;
  while (side > 2 && size % side != 0) side /= 2;
  if (row.empty() || side <= 2) return;
  NodeMap<const UOp*> changed;
  // What an element is decoded from may give several: these are decoded together, so that the
  // square is loaded and transposed once.
  constexpr int64_t kMostTogether = 2;
  std::vector<const UOp*> unrolls;
  int64_t together = 1;
  for (const UOp* axis : std::vector(stage.ranges)) {
    if (load == stage.x || stride(axis) != 0 || !IsConst(axis->src(0))) continue;
    if (together * axis->src(0)->word() > kMostTogether) continue;
    together *= axis->src(0)->word();
    llvm::erase_value(stage.ranges, axis);
    unrolls.push_back(FreshUnroll(axis->src(0)->word()));
    changed[axis] = unrolls.back();
  }
  const UOp* square = b_.Range(b_.Index(size / side));
  const UOp* column = FreshUnroll(side);
  unrolls.push_back(column);
  // The lanes of the copy come behind them, so that values are computed in its order, and what is
  // loaded is transposed.
  for (const UOp*& u : stage.unrolls) {
    if (load == stage.x) break;
    const UOp* to = FreshUnroll(u->word(1));
    changed[u] = to;
    u = to;
  }
  // The innermost of the merged axes now counts all elements of the row; the others are 0.
  for (const UOp* axis : row) {
    llvm::erase_value(stage.ranges, axis);
    changed[axis] =
        axis == row.front() ? b_.Add(b_.Mul(square, b_.Index(side)), column) : b_.Index(0);
  }
  stage.ranges.push_back(square);
  llvm::append_range(stage.unrolls, unrolls);
  stage.x = Replaced(stage.x, changed);
  stage.element = Replaced(stage.element, changed);
  if (stage.gate) stage.gate = Replaced(stage.gate, changed);
}

StagedMemory StagePlacement::Fill(const StageToPlace& stage) {
  std::vector<const UOp*> lanes = free_.UnrollsOf(stage.x), outer = free_.RangesOf(stage.x);
  Subtract(lanes, stage.unrolls);
  Subtract(outer, stage.ranges);
  int64_t count = 1;
  const UOp* start = LaneNumber(b_, lanes, count);
  const bool interleaves = stage.interleaved && !stage.is_local;
  const StagedMemory interleaved = {nullptr, start, count},
                     separate = InRows(stage, b_.Mul(start, b_.Index(stage.size)));
  StagedMemory memory = interleaves ? interleaved : separate;
  count = SaturatingMul(count, stage.size);
  if (stage.is_local) {
    // Work-items that differ in other local ids stage different values, so that each has a part of
    // the buffer.
    for (const UOp* l : locals_) {
      if (llvm::is_contained(stage.specials, l)) continue;
      memory.start = b_.Add(b_.Mul(l, b_.Index(count)), memory.start);
      count = SaturatingMul(count, l->src(0)->word());
    }
  }
  // Two buffers need only one barrier per iteration: what is read in one iteration is overwritten
  // two iterations later, and in between all work-items pass the barrier of the next iteration.
  if (stage.step) {
    const UOp* turn = b_.Alu(Op::kFloorMod, {stage.step, b_.Index(2)});
    memory.start = b_.Add(b_.Mul(turn, b_.Index(count)), memory.start);
    count = SaturatingMul(count, 2);
    std::erase(outer, stage.step);
    // An odd number of iterations ends with the buffer of the first one, so that the loop must not
    // begin again before all work-items have ended it.
    const UOp* end = stage.step->src(0);
    const bool is_even = IsConst(end) && end->word() % 2 == 0;
    for (const UOp* loop : loops_) {
      if (is_even || !stage.is_local || loop == stage.step) break;
      if (!llvm::is_contained(outer, loop)) outer.push_back(loop);
    }
  }
  const AddrSpace space = stage.is_local ? AddrSpace::kLocal : AddrSpace::kReg;
  const UOp* mem =
      b_.Scratch(DType::Pointer(stage.x->dtype.scalar(), count, space), MemoryAlignment(stage));
  const UOp* before = mem;
  if (!outer.empty() && stage.is_local) {
    // The next iteration must not overwrite what others still read.
    const UOp* wait = Barrier(outer);
    before = b_.After(mem, UOpSpan(&wait, 1));
  } else if (!outer.empty()) {
    before = b_.After(mem, outer);
  }
  if (stage.step) before = b_.After(before, UOpSpan(&stage.step, 1));
  const auto at = [&](StagedMemory of, const UOp* gate) {
    of.filled = before;
    return Address(of, stage.element, gate);
  };
  const UOp* done = nullptr;
  // Without loops the buffer is in registers, and there is no array to copy to.
  if (!stage.is_local && !stage.gate && target_.HasVectors() && !stage.ranges.empty()) {
    for (const StagedMemory& layout : {interleaved, separate}) {
      if (done || (layout.step != 1 && !interleaves)) continue;
      done = MakeCopyTransposed(b_, free_, at(layout, nullptr), stage.x);
      if (done) memory = layout;
    }
  }
  if (!done) done = b_.Store(at(memory, stage.gate), stage.x);
  if (!stage.ranges.empty()) done = b_.End(done, stage.ranges);
  if (stage.is_local) done = Barrier(UOpSpan(&done, 1));
  memory.filled = b_.After(mem, UOpSpan(&done, 1));
  return memory;
}

}  // namespace tg::lower
