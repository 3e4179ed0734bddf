#include "ir/interpret/expand_stages.h"

#include <algorithm>
#include <vector>

#include "ir/builder.h"
#include "ir/free_leaves.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::interpret {
namespace {

// The memory of one stage, and the offset in it for the current lanes and work-item.
struct StageMemory {
  const UOp *filled, *start;
};

class Expansion {
 public:
  Expansion(Body& body, const std::vector<const UOp*>& order) : body_(body), b_(*body.context) {
    for (const UOp* u : order) {
      if (IsLocalId(u)) locals_.push_back(u);
    }
  }

  const UOp* Run(const std::vector<const UOp*>& order) {
    for (const UOp* u : order) {
      llvm::SmallVector<const UOp*, 8> srcs;
      for (const UOp* s : u->srcs()) srcs.push_back(changed_.Get(s));
      const auto memory = u->num_srcs > 0 ? memory_.Get(u->src(0)) : StageMemory{};
      const UOp* to = nullptr;
      if (u->op == Op::kStage) {
        memory_[u] = Fill(u, srcs[0], srcs[1], srcs[2]);
        to = memory_[u].filled;
      } else if (u->op == Op::kIndex && memory.filled) {
        const UOp* element = b_.Add(memory.start, srcs[1]);
        to = b_.IndexPtr(memory.filled, element, u->num_srcs > 2 ? srcs[2] : nullptr);
      } else {
        to = b_.context().Rebuild(u, b_.context(), UOpSpan(srcs.data(), srcs.size()));
      }
      changed_[u] = to;
      body_.CarryOver(u, to);
    }
    return changed_.Get(order.back());
  }

 private:
  StageMemory Fill(const UOp* stage, const UOp* x, const UOp* element, const UOp* gate) {
    const UOpSpan axes = StageAxes(stage);
    const auto is_axis = [&](const UOp* u) { return llvm::is_contained(axes, u); };
    std::vector<const UOp*> lanes = free_.UnrollsOf(x), outer = free_.RangesOf(x), ranges;
    std::erase_if(lanes, is_axis);
    std::erase_if(outer, is_axis);
    bool shared = false;
    for (const UOp* axis : axes) {
      if (axis->op == Op::kRange) ranges.push_back(axis);
      shared |= axis->op == Op::kSpecial;
    }
    int64_t count = 1;
    const int64_t size = stage->dtype.size();
    const UOp* start = b_.Mul(LaneNumber(b_, lanes, count), b_.Index(size));
    count *= size;
    for (const UOp* local : locals_) {
      if (!shared || is_axis(local)) continue;
      start = b_.Add(b_.Mul(local, b_.Index(count)), start);
      count *= local->src(0)->word();
    }
    const UOp* memory = b_.Scratch(
        DType::Pointer(stage->dtype.scalar(), count, shared ? AddrSpace::kLocal : AddrSpace::kReg));
    const UOp* before = memory;
    if (!outer.empty() && shared) {
      // Other work-items may still read what the previous iteration stored.
      const UOp* wait = b_.context().Make(Op::kBarrier, kVoid, UOpSpan(outer.data(), outer.size()));
      before = b_.After(memory, UOpSpan(&wait, 1));
    } else if (!outer.empty()) {
      before = b_.After(memory, outer);
    }
    const bool always = IsConst(gate) && gate->word() != 0;
    const UOp* to = b_.IndexPtr(before, b_.Add(start, element), always ? nullptr : gate);
    const UOp* done = b_.Store(to, x);
    if (!ranges.empty()) done = b_.End(done, ranges);
    if (shared) done = b_.context().Make(Op::kBarrier, kVoid, {done});
    return {b_.After(memory, UOpSpan(&done, 1)), start};
  }

  Body& body_;
  Builder b_;
  FreeLeaves free_;
  std::vector<const UOp*> locals_;
  NodeMap<const UOp*> changed_;
  NodeMap<StageMemory> memory_;
};

}  // namespace

bool HasStages(const Body& body) {
  return body.root &&
         llvm::any_of(PostOrder(body.root), [](const UOp* u) { return u->op == Op::kStage; });
}

void ExpandStages(Body& body) {
  const std::vector<const UOp*> order = PostOrder(body.root);
  body.root = Expansion(body, order).Run(order);
}

}  // namespace tg::interpret
