// The part of StagePlacement in which the work-items of a group fill a copy in local memory
// together.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/indices/rebuild.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/lower/stage_placement.h"
#include "passes/simplify/affine_sums.h"

namespace tg::lower {
namespace {

// The address that the first load in `x` reads, or null if there is no load.
const UOp* LoadedElement(const UOp* x) {
  for (const UOp* u : PostOrder(x)) {
    if (u->op == Op::kLoad && u->src(0)->op == Op::kIndex) return u->src(0)->src(1);
  }
  return nullptr;
}

// How much an index grows with a step of a loop.
struct Stride {
  double mean = 0;          // over steps in which quotients grow and remainders wrap
  bool is_exact = true;     // each step adds the same
  double before_wraps = 0;  // the mean between steps in which remainders wrap
};

Stride StrideAlong(const UOp* index, const UOp* axis) {
  if (index == axis) return {1, true, 1};
  Stride out;
  const std::optional<analysis::AffineExpr> sum = analysis::ParseAffine(index);
  if (!sum) return {0, false};
  for (const auto& term : sum->terms) {
    const auto coefficient = static_cast<double>(term.coef);
    if (term.node == axis) out.mean += coefficient, out.before_wraps += coefficient;
    const bool divides = term.node->op == Op::kFloorDiv || term.node->op == Op::kFloorMod;
    if (!divides || !IsConst(term.node->src(1)) || term.node->src(1)->word() <= 0) continue;
    const Stride part = StrideAlong(term.node->src(0), axis);
    out.is_exact = out.is_exact && part.is_exact && part.mean == 0;
    const auto divisor = static_cast<double>(term.node->src(1)->word());
    const bool is_mod = term.node->op == Op::kFloorMod;
    out.before_wraps += coefficient * part.before_wraps / (is_mod ? 1 : divisor);
    if (!is_mod) out.mean += coefficient * part.mean / divisor;
  }
  return out;
}

int64_t SizeOf(const UOp* range) { return range->src(0)->word(); }

// The greatest power of two, up to `most`, of which the index is a multiple wherever it is one of
// the loops of `row` at their beginnings.
int64_t AlignmentOf(const UOp* index, UOpSpan row, int64_t most) {
  const std::optional<analysis::AffineExpr> sum = analysis::ParseAffine(index);
  if (!sum) return 1;
  const auto divides = [&](int64_t part) {
    while (part % most != 0) most /= 2;
  };
  divides(sum->constant);
  for (const auto& term : sum->terms) {
    if (!llvm::is_contained(row, term.node)) divides(term.coef);
  }
  return most;
}

}  // namespace

const UOp* StagePlacement::Gated(const UOp* x, const UOp* gate) {
  NodeMap<const UOp*> changed;
  for (const UOp* u : PostOrder(x)) {
    llvm::SmallVector<const UOp*, 4> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(changed.Get(s));
    const bool loads = u->op == Op::kLoad && srcs[0]->op == Op::kIndex &&
                       MemoryOf(srcs[0])->op == Op::kDefineGlobal;
    if (loads) {
      const UOp* address = srcs[0];
      const UOp* all = analysis::Both(b_, address->num_srcs > 2 ? address->src(2) : nullptr, gate);
      const UOp* const parts[] = {address->src(0), address->src(1), all};
      srcs[0] = b_.context().Make(Op::kIndex, address->dtype, parts);
    }
    changed[u] = b_.context().Rebuild(u, b_.context(), UOpSpan(srcs.data(), srcs.size()));
    body_.CarryOver(u, changed[u]);
  }
  return changed.Get(x);
}

StagedMemory StagePlacement::FillTogether(StageToPlace stage) {
  const std::vector<const UOp*> axes = std::move(stage.ranges);  // in the order of the copy
  std::vector<const UOp*> order = axes;  // by descending stride in the source memory
  NodeMap<Stride> strides;
  const UOp* const address = LoadedElement(stage.x);
  if (address != nullptr) {
    for (const UOp* axis : axes) {
      strides[axis] = StrideAlong(address, axis);
      strides[axis].mean = std::abs(strides[axis].mean);
    }
  }
  // Remainders, as those of a row's pixels, return to where they were. In batches nothing but runs
  // may be innermost.
  const bool in_batches = stage.step && stage.buffers > 2;
  const auto distance = [&](const UOp* axis) {
    const Stride& stride = strides[axis];
    return stride.mean != 0 || !in_batches ? stride.mean : std::abs(stride.before_wraps);
  };
  llvm::stable_sort(order, [&](const UOp* a, const UOp* b) { return distance(a) > distance(b); });
  int64_t row = 1;  // contiguous elements in the source memory
  llvm::SmallVector<const UOp*, 4> row_axes;
  for (const UOp* axis : llvm::reverse(order)) {
    if (strides[axis].mean != static_cast<double>(row) || !strides[axis].is_exact) break;
    row *= SizeOf(axis);
    row_axes.push_back(axis);
  }
  if (stage.step && stage.buffers > 2) {
    if (std::optional<StagedMemory> filled = FillByBatches(stage, order, row)) return *filled;
    stage.ahead = false;  // takes turns at two buffers
  }
  const int64_t size = stage.size;
  // Rows of memory become columns of the copy, so that work-items store with a stride, or several
  // rows are read at a time; padding spreads them over banks.
  const bool by_columns = row > 1 && strides[axes.back()].mean != 1;
  const bool pads = (by_columns || stage.in_matrices) && !stage.of_warpgroup;
  if (stage.row > 0 && stage.buffers <= 2 && pads) {
    stage.padding = loop_nest::LoopNest::kRowPadding / ByteSize(stage.x->dtype.scalar());
    stage.size = size + size / stage.row * stage.padding;
  }
  int64_t items = 1;
  const UOp* number = b_.Index(0);  // element number, from the local ids, the round and the lane
  for (const UOp* local : llvm::reverse(locals_)) {
    number = b_.Add(b_.Mul(number, local->src(0)), local);
    items *= SizeOf(local);
  }
  int64_t lanes = std::max<int64_t>(1, target_.mem_width / ByteSize(stage.x->dtype.scalar()));
  while (lanes > 1 && (row % lanes != 0 || size % (items * lanes) != 0)) lanes /= 2;
  // Where elements are neither loaded nor stored in vectors, neighbouring work-items read
  // neighbouring elements instead.
  if (row > 1 && StrideAlong(stage.element, row_axes.front()).mean != 1) {
    lanes = AlignmentOf(address, row_axes, lanes);
  }
  stage.ranges.clear();
  if (const int64_t turns = (size + items * lanes - 1) / (items * lanes); turns > 1) {
    // In an unrolled loop over rounds, all loads are in flight at the same time, and take
    // registers.
    const bool unrolls = stage.ahead || turns * lanes <= target_.vector_registers / 2;
    const UOp* turn = unrolls ? FreshUnroll(turns) : b_.Range(b_.Index(turns));
    (unrolls ? stage.unrolls : stage.ranges).push_back(turn);
    number = b_.Add(b_.Mul(turn, b_.Index(items)), number);
  }
  if (lanes > 1) {
    stage.unrolls.push_back(FreshUnroll(lanes));
    number = b_.Add(b_.Mul(number, b_.Index(lanes)), stage.unrolls.back());
  }
  // In the last round some work-items have no element left to copy.
  if (size % items != 0) {
    stage.gate = simplify_(b_.Lt(number, b_.Index(size)));
    stage.x = Gated(stage.x, stage.gate);
    number = b_.Alu(Op::kFloorMod, {number, b_.Index(size)});
  }
  Shape shape;
  for (const UOp* axis : order) shape.push_back(SizeOf(axis));
  const std::vector<const UOp*> index =
      analysis::Unflatten(b_, shape, simplify_(number), simplify_);
  NodeMap<const UOp*> changed;
  for (size_t k = 0; k < order.size(); ++k) changed[order[k]] = index[k];
  const UOp* x = stage.x;
  stage.element = Replaced(stage.element, changed);
  if (stage.ahead) {
    // Gates the loads for the next step, since the last step has none.
    const UOp* later = Gated(x, b_.Lt(stage.step, stage.step->src(0)));
    NodeMap<const UOp*> in_next = changed;
    changed[stage.step] = b_.Index(0);
    in_next[stage.step] = b_.Add(stage.step, b_.Index(1));
    return FillAhead(stage, Replaced(x, changed), Replaced(later, in_next));
  }
  stage.x = Replaced(x, changed);
  stage.specials = locals_;
  const StagedMemory memory = Fill(stage);
  const UOp* barrier = memory.filled->src(1);
  filled_.push_back({barrier, free_.RangesOf(barrier)});
  return memory;
}

StagedMemory StagePlacement::FillAhead(const StageToPlace& stage, const UOp* first,
                                       const UOp* next) {
  const Scalar type = first->dtype.scalar();
  const UOp* step = stage.step;
  const auto in_buffer = [&](const UOp* of) {
    const UOp* turn = b_.Alu(Op::kFloorMod, {of, b_.Index(2)});
    return b_.Mul(turn, b_.Index(stage.size));
  };
  const UOp* mem =
      b_.Scratch(DType::Pointer(type, 2 * stage.size, AddrSpace::kLocal), MemoryAlignment(stage));
  const auto address = [&](const UOp* memory, const UOp* start, const UOp* gate) {
    StagedMemory there = InRows(stage, start);
    there.filled = memory;
    return Address(there, stage.element, gate);
  };
  const UOp* before = mem;
  // The steps overwrite what is stored before the loop over steps. So each iteration of the loops
  // around it must store the first step's elements again.
  std::vector<const UOp*> outer = free_.RangesOf(first);
  for (const UOp* loop : loops_) {
    if (!llvm::is_contained(outer, loop)) outer.push_back(loop);
  }
  if (!outer.empty()) {
    const UOp* wait = Barrier(outer);
    before = b_.After(mem, UOpSpan(&wait, 1));
  }
  const UOp* begin = b_.Store(address(before, b_.Index(0), stage.gate), first);
  // The barrier at the beginning of each step waits for the stores of the step before.
  const UOp* const filled[] = {begin, step};
  const UOp* barrier = Barrier(filled);
  int64_t count = 1;
  const UOp* lane = LaneNumber(b_, free_.UnrollsOf(next), count);
  const UOp* own = b_.Scratch(DType::Pointer(type, count, AddrSpace::kReg));
  const UOp* loaded = b_.Store(b_.IndexPtr(b_.After(own, free_.RangesOf(next)), lane), next);
  const UOp* held = b_.Load(b_.IndexPtr(b_.After(own, UOpSpan(&loaded, 1)), lane));
  const UOp* behind = b_.After(mem, UOpSpan(&barrier, 1));
  const UOp* there = address(behind, in_buffer(b_.Add(step, b_.Index(1))), stage.gate);
  step_stores_.push_back({step, b_.Store(there, held)});
  filled_.push_back({barrier, free_.RangesOf(barrier)});
  const UOp* const tokens[] = {barrier, loaded};
  StagedMemory memory = InRows(stage, in_buffer(step));
  memory.filled = b_.After(mem, tokens);
  return memory;
}

}  // namespace tg::lower
