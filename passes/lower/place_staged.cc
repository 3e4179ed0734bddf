#include "passes/lower/place_staged.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "ir/scratch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/indices/local_ids.h"
#include "passes/indices/rebuild.h"
#include "passes/lower/lower_reduces.h"
#include "passes/lower/stage_placement.h"

namespace tg::lower {
namespace {

using Filled = StagePlacement::Filled;
using StepStore = StagePlacement::StepStore;

// Rebuilds the body with each stage placed separately. Step stores are added and barriers are
// merged afterwards.
class StagedBody {
 public:
  StagedBody(Body& body, StagePlacement& placement)
      : body_(body), b_(*body.context), placement_(placement) {}

  const UOp* Place(const std::vector<const UOp*>& order) {
    for (const UOp* u : order) {
      if (u->op == Op::kLdMatrix) in_matrices_.Insert(MemoryOf(u->src(0)));
      if (u->op == Op::kWgmma) {
        for (const UOp* factor : u->srcs().subspan(1)) {
          factors_.Insert(factor), of_warpgroups_.Insert(factor->src(0));
        }
      }
      if (u->op == Op::kWmma) AddWords(u);
    }
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* u : order) {
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(placed_.Get(s));
      const UOp* to = nullptr;
      if (u->op == Op::kStage) {
        const StagedMemory memory = placement_.Place(StageOf(u, srcs));
        memories_[u] = memory;
        to = memory.filled;
      } else if (u->op == Op::kIndex && u->src(0)->op == Op::kStage) {
        StagedMemory memory = memories_.Get(u->src(0));
        // A warpgroup's instruction gets the address of a factor as if no chunk were moved.
        if (factors_.Contains(u)) memory.chunk = 0;
        to = placement_.Address(memory, srcs[1], u->num_srcs > 2 ? srcs[2] : nullptr);
      } else {
        to = b_.context().Rebuild(u, b_.context(), UOpSpan(srcs.data(), srcs.size()));
      }
      placed_[u] = to;
      body_.CarryOver(u, to);
    }
    return placed_.Get(order.back());
  }

 private:
  // The copies that a matrix instruction's factors of 32 bits are loaded from.
  void AddWords(const UOp* product) {
    for (const UOp* factor : product->srcs().first(2)) {
      for (; factor->op == Op::kContract; factor = factor->src(0)) {
      }
      if (factor->op != Op::kLoad || ByteSize(factor->dtype.scalar()) != 4) continue;
      const UOp* memory = MemoryOf(factor->src(0));
      if (memory->op == Op::kStage) in_matrices_.Insert(memory);
    }
  }

  StageToPlace StageOf(const UOp* u, const llvm::SmallVectorImpl<const UOp*>& srcs) const {
    StageToPlace out = {.x = srcs[0], .element = srcs[1], .gate = srcs[2]};
    if (IsConst(out.gate) && out.gate->word() != 0) out.gate = nullptr;
    for (const UOp* axis : StageAxes(u)) {
      const UOp* to = placed_.Get(axis);
      (to->op == Op::kRange    ? out.ranges
       : to->op == Op::kUnroll ? out.unrolls
                               : out.specials)
          .push_back(to);
    }
    out.size = u->dtype.size();
    out.row = u->word(4);
    out.is_local = u->dtype.space() == AddrSpace::kLocal;
    out.interleaved = u->word(1) != 0;
    out.buffers = u->word(2);
    out.ahead = u->word(3) != 0;
    out.in_matrices = in_matrices_.Contains(u);
    out.of_warpgroup = of_warpgroups_.Contains(u);
    out.step = StageStep(u) ? placed_.Get(StageStep(u)) : nullptr;
    return out;
  }

  Body& body_;
  Builder b_;
  StagePlacement& placement_;
  NodeMap<const UOp*> placed_;
  NodeMap<StagedMemory> memories_;
  NodeSet factors_,
      of_warpgroups_;    // addresses that warpgroups' instructions take, and their stages
  NodeSet in_matrices_;  // stages that `ldmatrix` reads, or words that matrix instructions take
};

// `end` with the stores of StagePlacement::StepStore in the iterations that they belong to.
const UOp* EndOfSteps(Builder& b, const UOp* end, const std::vector<StepStore>& stores) {
  const UOp* effect = end->src(0);
  std::vector<const UOp*> open;  // ranges that the next `end` closes together
  for (const UOp* range : llvm::reverse(end->srcs().subspan(1))) {
    std::vector<const UOp*> tokens;
    for (const StepStore& s : stores) {
      if (s.range == range) tokens.push_back(s.store);
    }
    if (!tokens.empty()) {
      tokens.push_back(open.empty() ? effect : b.End(effect, open));
      effect = b.context().Make(Op::kNoop, kVoid, tokens);
      open.clear();
    }
    open.insert(open.begin(), range);
  }
  return b.End(effect, open);
}

const UOp* AddStepStores(Body& body, const UOp* sink, const std::vector<StepStore>& stores) {
  if (stores.empty()) return sink;
  Builder b(*body.context);
  NodeMap<const UOp*> changed;
  for (const UOp* u : PostOrder(sink)) {
    if (u->op != Op::kEnd) continue;
    const UOpSpan ranges = u->srcs().subspan(1);
    const bool steps = llvm::any_of(
        stores, [&](const StepStore& s) { return llvm::is_contained(ranges, s.range); });
    if (steps) changed[u] = EndOfSteps(b, u, stores);
  }
  return indices::Rebuilt(body, sink, changed);
}

// Partial results in the output, which the loops around all stores read and write, are tied to
// their iterations by `after`. A work-item reads only its own ones, so that it may load them after
// the barriers of the copies instead of before them.
const UOp* DelayPartialResults(Body& body, const UOp* sink, const std::vector<Filled>& filled) {
  const std::vector<const UOp*> loops = LoopsAroundStores(sink);
  std::vector<const UOp*> barriers;
  for (const Filled& fill : filled) {
    const bool around = llvm::all_of(
        fill.loops, [&](const UOp* range) { return llvm::is_contained(loops, range); });
    if (around) barriers.push_back(fill.barrier);
  }
  if (barriers.empty()) return sink;
  Builder b(*body.context);
  NodeMap<const UOp*> changed;
  for (const UOp* u : PostOrder(sink)) {
    if (u->op != Op::kAfter || u->src(0)->op != Op::kDefineGlobal) continue;
    std::vector<const UOp*> tokens(u->srcs().begin() + 1, u->srcs().end());
    if (!llvm::all_of(tokens, [](const UOp* t) { return t->op == Op::kRange; })) continue;
    tokens.insert(tokens.end(), barriers.begin(), barriers.end());
    changed[u] = b.After(u->src(0), tokens);
  }
  return indices::Rebuilt(body, sink, changed);
}

// Merges the barriers of copies that are filled in the same loops into one.
const UOp* JoinFills(Body& body, const UOp* sink, std::vector<Filled> filled) {
  for (size_t i = 0; i < filled.size(); ++i) {
    std::vector<const UOp*> joined, tokens;
    for (size_t k = i; k < filled.size(); ++k) {
      const UOp* barrier = filled[k].barrier;
      if (filled[k].loops != filled[i].loops || llvm::is_contained(joined, barrier)) continue;
      // A copy that reads from another copy must be filled after it and cannot share its barrier.
      const std::vector<const UOp*> before = PostOrder(barrier);
      if (llvm::any_of(joined, [&](const UOp* j) { return llvm::is_contained(before, j); })) {
        continue;
      }
      joined.push_back(barrier);
      for (const UOp* token : barrier->srcs()) {
        if (!llvm::is_contained(tokens, token)) tokens.push_back(token);
      }
    }
    if (joined.size() < 2) continue;
    NodeMap<const UOp*> changed;
    const UOp* both = body.context->Make(Op::kBarrier, kVoid, tokens);
    for (const UOp* barrier : joined) changed[barrier] = both;
    sink = indices::Rebuilt(body, sink, changed);
    for (Filled& fill : filled) {
      if (const UOp* to = changed.Get(fill.barrier)) fill.barrier = to;
    }
  }
  return sink;
}

// Copies whose batches begin and end at the same places share them.
const UOp* JoinBatches(Body& body, const UOp* sink,
                       const std::vector<StagePlacement::Batches>& batches) {
  Context& ctx = *body.context;
  std::vector<bool> done(batches.size(), false);
  for (size_t i = 0; i < batches.size(); ++i) {
    std::vector<const StagePlacement::Batches*> joined;
    for (size_t k = i; k < batches.size(); ++k) {
      const bool alike = batches[k].step == batches[i].step &&
                         batches[k].loops == batches[i].loops &&
                         batches[k].begins.size() == batches[i].begins.size();
      if (done[k] || !alike) continue;
      done[k] = true;
      joined.push_back(&batches[k]);
    }
    if (joined.size() < 2) continue;
    NodeMap<const UOp*> changed;
    const UOp* begun = nullptr;
    for (size_t n = 0; n < batches[i].begins.size(); ++n) {
      std::vector<const UOp*> copies;
      for (const auto* of : joined) {
        // The copies are behind the batch before, which is joined already.
        for (const UOp* copy : of->begins[n]->srcs()) {
          copies.push_back(indices::Rebuilt(body, copy, changed));
        }
      }
      begun = ctx.Make(Op::kCommit, kVoid, copies);
      for (const auto* of : joined) changed[of->begins[n]] = begun;
    }
    const UOp* wait = ctx.Make(Op::kWait, kVoid, {begun, batches[i].step}, batches[i].wait->attr);
    const UOp* barrier = ctx.Make(Op::kBarrier, kVoid, {wait});
    for (const auto* of : joined) changed[of->wait] = wait, changed[of->barrier] = barrier;
    sink = indices::Rebuilt(body, sink, changed);
    std::vector<const UOp*> copies;
    NodeMap<const UOp*> commits;
    for (const auto* of : joined) {
      const UOpSpan own = changed.Get(of->commit)->srcs();
      copies.insert(copies.end(), own.begin(), own.end());
    }
    const UOp* commit = ctx.Make(Op::kCommit, kVoid, copies);
    for (const auto* of : joined) commits[changed.Get(of->commit)] = commit;
    sink = indices::Rebuilt(body, sink, commits);
  }
  return sink;
}

absl::Status CheckLocalMemory(const UOp* sink, const passes::Target& target) {
  const int64_t bytes = ScratchBytes(PostOrder(sink), AddrSpace::kLocal);
  if (bytes <= target.local_memory) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("packed values that are read in several places need ", bytes,
                   " bytes of local memory; target ", target.name, " has ", target.local_memory));
}

}  // namespace

absl::Status PlaceStaged(Body& body, const passes::Target& target, analysis::SimplifyFn simplify) {
  const std::vector<const UOp*> order = PostOrder(body.root);
  if (llvm::none_of(order, [](const UOp* u) { return u->op == Op::kStage; })) {
    return absl::OkStatus();
  }
  StagePlacement::Surroundings around = {indices::LocalIds(order), LoopsAroundStores(body.root)};
  for (const UOp* u : order) {
    if (u->op == Op::kUnroll) around.fresh_unroll = std::max(around.fresh_unroll, u->word() + 1);
  }
  StagePlacement placement(body, target, simplify, std::move(around));
  const UOp* sink = StagedBody(body, placement).Place(order);
  sink = AddStepStores(body, sink, placement.step_stores());
  sink = DelayPartialResults(body, sink, placement.filled());
  sink = JoinFills(body, sink, placement.filled());
  sink = JoinBatches(body, sink, placement.batches());
  body.CarryOver(body.root, sink);
  body.root = sink;
  return CheckLocalMemory(sink, target);
}

}  // namespace tg::lower
