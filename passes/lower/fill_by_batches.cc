// The part of StagePlacement in which a group's copies in local memory are filled some steps ahead,
// by asynchronous copies that come in batches.
#include <algorithm>
#include <optional>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/indices/rebuild.h"
#include "passes/lower/stage_placement.h"
#include "passes/simplify/affine_sums.h"

namespace tg::lower {
namespace {

// The bytes that one instruction copies.
constexpr int64_t kMostBytes = 16, kLeastBytes = 4;

bool IsMultiple(const UOp* index, int64_t of) {
  const std::optional<analysis::AffineExpr> sum = analysis::ParseAffine(index);
  return sum && sum->constant % of == 0 &&
         llvm::all_of(sum->terms, [&](const auto& term) { return term.coef % of == 0; });
}

// The load of `x`, which is a load from an argument or, where `valid` does not hold, zero; null if
// it is another value.
const UOp* LoadOf(const UOp* x, const UOp*& valid) {
  if (x->op == Op::kWhere && IsConst(x->src(2)) && x->src(2)->word() == 0) {
    valid = x->src(0);
    x = x->src(1);
  }
  if (x->op != Op::kLoad || x->num_srcs != 1 || StrideOf(x) != 1) return nullptr;
  const UOp* address = x->src(0);
  const bool plain = address->op == Op::kIndex && address->src(0)->op == Op::kDefineGlobal &&
                     !address->src(0)->dtype.is_image() &&
                     address->src(0)->dtype.scalar() == x->dtype.scalar();
  return plain ? x : nullptr;
}

}  // namespace

const UOp* StagePlacement::Skewed(const UOp* element, const StagedMemory& memory) {
  // Rows of fewer chunks share the banks.
  const int64_t chunks = std::min(kChunks, memory.row / memory.chunk);
  const auto part = [&](int64_t size) {
    const UOp* number = b_.Alu(Op::kFloorDiv, {element, b_.Index(size)});
    return simplify_(b_.Alu(Op::kFloorMod, {number, b_.Index(chunks)}));
  };
  const UOp* row = part(memory.row * (kChunks / chunks));
  const UOp* chunk = part(memory.chunk);
  // Pairs of chunks are rotated, and odd rows swap the two of a pair, so that a pair stays
  // together: memory comes in pieces of 32 bytes.
  const auto sum = [&](int64_t part, int64_t modulo) {
    const auto half = [&](const UOp* x) { return b_.Alu(Op::kFloorDiv, {x, b_.Index(part)}); };
    const UOp* both = b_.Add(half(chunk), half(row));
    return b_.Alu(Op::kFloorMod, {both, b_.Index(modulo)});
  };
  const UOp* rotated = nullptr;
  if (memory.of_warpgroup) {
    // Bit by bit.
    rotated = sum(1, 2);
    for (int64_t bit = 2; bit < chunks; bit *= 2) {
      rotated = b_.Add(b_.Mul(sum(bit, 2), b_.Index(bit)), rotated);
    }
    rotated = simplify_(rotated);
  } else {
    rotated = simplify_(b_.Add(b_.Mul(sum(2, chunks / 2), b_.Index(2)), sum(1, 2)));
  }
  const UOp* rest = simplify_(b_.Sub(element, b_.Mul(chunk, b_.Index(memory.chunk))));
  return b_.Add(rest, b_.Mul(rotated, b_.Index(memory.chunk)));
}

std::optional<StagePlacement::AsyncCopy> StagePlacement::FindAsyncCopy(
    const StageToPlace& stage, const std::vector<const UOp*>& order, const UOp* number,
    int64_t lanes) {
  Shape shape;
  for (const UOp* axis : order) shape.push_back(axis->src(0)->word());
  struct Element {
    const UOp *x, *number;
  };
  const auto element = [&](int64_t lane) {
    const UOp* flat = b_.Add(b_.Mul(number, b_.Index(lanes)), b_.Index(lane));
    const std::vector<const UOp*> index =
        analysis::Unflatten(b_, shape, simplify_(flat), simplify_);
    NodeMap<const UOp*> changed, again;
    for (size_t k = 0; k < order.size(); ++k) changed[order[k]] = again[order[k]] = index[k];
    return Element{Replaced(stage.x, changed), Replaced(stage.element, again)};
  };
  const Element first = element(0), last = element(lanes - 1);
  int64_t zeros = 0;  // the first lanes that are padding
  for (; zeros < lanes; ++zeros) {
    const UOp* x = simplify_(element(zeros).x);
    if (!IsConst(x) || x->word() != 0) break;
  }
  if (zeros == lanes) return AsyncCopy{lanes, first.number, nullptr, nullptr};
  const UOp *valid = nullptr, *valid_last = nullptr;
  const UOp *load = LoadOf(first.x, valid), *load_last = LoadOf(last.x, valid_last);
  // A run ends where the elements of whole runs end.
  const auto are_same = [&](const UOp*& a, const UOp* b) {
    if (a == b || !a || !b) return a == b;
    a = simplify_(a);
    return a == simplify_(b);
  };
  if (!load || !load_last || !are_same(valid, valid_last)) return std::nullopt;
  const UOp *from = load->src(0), *from_last = load_last->src(0);
  const UOp* gate = from->num_srcs > 2 ? from->src(2) : nullptr;
  const UOp* gate_last = from_last->num_srcs > 2 ? from_last->src(2) : nullptr;
  if (!are_same(gate, gate_last)) return std::nullopt;
  const auto is_run = [&](const UOp* begin, const UOp* end) {
    const UOp* distance = simplify_(b_.Sub(end, begin));
    return IsConst(distance) && distance->word() == lanes - 1 && IsMultiple(begin, lanes);
  };
  if (!is_run(from->src(1), from_last->src(1)) || !is_run(first.number, last.number)) {
    return std::nullopt;
  }
  if (valid) gate = analysis::Both(b_, gate, valid);
  return AsyncCopy{lanes, first.number, from, gate};
}

std::optional<StagedMemory> StagePlacement::FillByBatches(const StageToPlace& stage,
                                                          const std::vector<const UOp*>& order,
                                                          int64_t row) {
  const UOp* step = stage.step;
  const Scalar type = stage.x->dtype.scalar();
  const bool same_for_group = llvm::none_of(PostOrder(step->src(0)), [&](const UOp* u) {
    return llvm::is_contained(locals_, u) || u->op == Op::kLoad;
  });
  if (!target_.HasAsyncCopies() || stage.gate || !same_for_group ||
      !free_.UnrollsOf(stage.x).empty()) {
    return std::nullopt;
  }
  int64_t items = 1;
  const UOp* item = b_.Index(0);
  for (const UOp* local : llvm::reverse(locals_)) {
    item = b_.Add(b_.Mul(item, local->src(0)), local);
    items *= local->src(0)->word();
  }
  const auto number = [&](int64_t turn) { return simplify_(b_.Add(b_.Index(turn * items), item)); };
  int64_t lanes = kMostBytes / static_cast<int64_t>(ByteSize(type));
  const int64_t least = CeilDiv(kLeastBytes, static_cast<int64_t>(ByteSize(type)));
  const auto fits = [&] {
    return row % lanes == 0 && stage.size % (items * lanes) == 0 &&
           FindAsyncCopy(stage, order, number(0), lanes);
  };
  while (lanes >= least && !fits()) lanes /= 2;
  if (lanes < least) return std::nullopt;
  std::vector<AsyncCopy> copies;
  for (int64_t turn = 0; turn < stage.size / (items * lanes); ++turn) {
    const std::optional<AsyncCopy> copy = FindAsyncCopy(stage, order, number(turn), lanes);
    if (!copy) return std::nullopt;
    copies.push_back(*copy);
  }
  // What is only padding is a copy of nothing from wherever others copy.
  const auto copies_memory = [](const AsyncCopy& copy) { return copy.from != nullptr; };
  const auto some = llvm::find_if(copies, copies_memory);
  if (some == copies.end()) return std::nullopt;
  const UOp* const from = some->from;
  for (AsyncCopy& copy : copies) {
    if (copy.from) continue;
    copy.from = from;
    copy.valid = b_.Bool(false);
  }
  const UOp* mem = b_.Scratch(DType::Pointer(type, stage.buffers * stage.size, AddrSpace::kLocal),
                              std::max(kChunks * kChunkBytes, MemoryAlignment(stage)));
  StagedMemory memory = InRows(stage, b_.Index(0));
  memory.filled = mem, memory.padding = 0;
  const int64_t chunk = ChunkOf(stage);
  const auto is_power = [](int64_t n) { return n > 0 && (n & (n - 1)) == 0; };
  // With rows of any other length, or of one chunk, the chunks are in different banks anyway.
  if (stage.in_matrices && is_power(stage.row) && stage.row > chunk) memory.chunk = chunk;
  // The batch for step `at`, behind `before`. Where there is no such step, copies read nothing and
  // write zeros to a buffer that nobody reads. A branch around them would keep the device's
  // compiler from mixing their addresses with the step's arithmetic.
  const auto batch = [&](const UOp* before, const UOp* at, const UOp* batch_before) {
    memory.filled = before;
    const UOp* turn = b_.Alu(Op::kFloorMod, {at, b_.Index(stage.buffers)});
    memory.start = simplify_(b_.Mul(turn, b_.Index(stage.size)));
    const UOp* exists = simplify_(b_.Lt(at, step->src(0)));
    const bool always = IsConst(exists) && exists->word() != 0;
    std::vector<const UOp*> tokens;
    for (const AsyncCopy& copy : copies) {
      NodeMap<const UOp*> in_step;
      in_step[step] = at;
      const UOp* from = copy.from;
      const UOp* valid = copy.valid ? Replaced(copy.valid, in_step) : nullptr;
      if (!always) valid = analysis::Both(b_, exists, valid);
      std::vector<const UOp*> srcs = {
          Address(memory, copy.to, nullptr),
          b_.IndexPtr(from->src(0), Replaced(from->src(1), in_step), valid)};
      if (batch_before) srcs.push_back(batch_before);
      tokens.push_back(b_.context().Make(Op::kCopyAsync, kVoid, srcs,
                                         b_.context().MakeAttr(Op::kCopyAsync, {copy.lanes})));
    }
    return b_.context().Make(Op::kCommit, kVoid, tokens);
  };
  Batches out = {.step = step};
  NodeMap<const UOp*> begin;
  begin[step] = b_.Index(0);
  out.loops = free_.RangesOf(Replaced(stage.x, begin));
  llvm::erase_if(out.loops, [&](const UOp* loop) { return llvm::is_contained(order, loop); });
  for (const UOp* loop : loops_) {
    if (!llvm::is_contained(out.loops, loop)) out.loops.push_back(loop);
  }
  const UOp* before = mem;
  if (!out.loops.empty()) {
    // Others may still read what the last iteration of these loops copied.
    const UOp* wait = Barrier(out.loops);
    before = b_.After(mem, UOpSpan(&wait, 1));
  }
  for (int64_t n = 0; n + 1 < stage.buffers; ++n) {
    out.begins.push_back(batch(before, b_.Index(n), n > 0 ? out.begins.back() : nullptr));
  }
  out.wait = b_.context().Make(Op::kWait, kVoid, {out.begins.back(), step},
                               b_.context().MakeAttr(Op::kWait, {stage.buffers - 2}));
  // Behind the barrier all work-items have their parts of this step's batch, and none reads the
  // buffer of the step before, which the new batch fills.
  out.barrier = Barrier(UOpSpan(&out.wait, 1));
  const UOp* behind = b_.After(mem, UOpSpan(&out.barrier, 1));
  out.commit = batch(behind, b_.Add(step, b_.Index(stage.buffers - 1)), nullptr);
  batches_.push_back(out);
  memory.filled = b_.After(mem, UOpSpan(&out.commit, 1));
  memory.start =
      b_.Mul(b_.Alu(Op::kFloorMod, {step, b_.Index(stage.buffers)}), b_.Index(stage.size));
  return memory;
}

}  // namespace tg::lower
