#include "passes/lower/share_loops.h"

#include <algorithm>
#include <vector>

#include "ir/free_leaves.h"
#include "ir/walk.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::lower {
namespace {

using Ranges = std::vector<const UOp*>;

class LoopSharing {
 public:
  explicit LoopSharing(const std::vector<const UOp*>& order) {
    for (const UOp* u : order) {
      if (u->op != Op::kReduce || u->num_srcs < 2) continue;
      Loops loops = LoopsOf(u);
      if (!IsPlain(loops)) continue;
      const auto first =
          llvm::find_if(firsts_, [&](const Loops& other) { return MayShare(other, loops); });
      if (first == firsts_.end()) {
        firsts_.push_back(std::move(loops));
        continue;
      }
      for (size_t i = 0; i < loops.own.size(); ++i) instead_[loops.own[i]] = first->own[i];
      first->reduces.push_back(u);
    }
  }

  bool any() const { return !instead_.empty(); }
  // The range of an earlier reduce in place of this one, or null.
  const UOp* Instead(const UOp* range) const { return instead_.lookup(range); }

 private:
  struct Loops {
    std::vector<const UOp*> reduces;  // that run in them
    Ranges own, outer;
    std::vector<const UOp*> terms;  // all nodes below the first of the reduces
  };

  Loops LoopsOf(const UOp* reduce) {
    Loops loops{{reduce}, {reduce->srcs().begin() + 1, reduce->srcs().end()}, {}, {}};
    loops.outer = free_.RangesOf(reduce->src(0));
    std::erase_if(loops.outer, [&](const UOp* r) { return llvm::is_contained(loops.own, r); });
    loops.terms = PostOrder(reduce->src(0));
    return loops;
  }

  // Whether what varies in the loops has no order: it neither fills memory nor waits.
  bool IsPlain(const Loops& loops) {
    return llvm::all_of(loops.terms, [&](const UOp* u) {
      const bool joins_lanes = u->op == Op::kContract || (u->op == Op::kReduce && u->num_srcs == 1);
      const bool reads = u->op == Op::kIndex || u->op == Op::kLoad;
      if (IsElementwise(u->op) || reads || joins_lanes || u->op == Op::kRange) return true;
      return llvm::none_of(free_.Of(u),
                           [&](const UOp* r) { return llvm::is_contained(loops.own, r); });
    });
  }

  // The reduces of `first` come before the other in the order, and so do not need it.
  static bool MayShare(const Loops& first, const Loops& second) {
    const auto as_often = [](const UOp* a, const UOp* b) { return a->src(0) == b->src(0); };
    return std::equal(first.own.begin(), first.own.end(), second.own.begin(), second.own.end(),
                      as_often) &&
           std::is_permutation(first.outer.begin(), first.outer.end(), second.outer.begin(),
                               second.outer.end()) &&
           llvm::none_of(first.reduces, [&](const UOp* reduce) {
             return llvm::is_contained(second.terms, reduce);
           });
  }

  FreeLeaves free_;
  std::vector<Loops> firsts_;
  llvm::DenseMap<const UOp*, const UOp*> instead_;
};

}  // namespace

void ShareLoops(Body& body) {
  const std::vector<const UOp*> order = PostOrder(body.root);
  const LoopSharing sharing(order);
  if (!sharing.any()) return;
  NodeMap<const UOp*> map;
  llvm::SmallVector<const UOp*, 8> srcs;
  for (const UOp* u : order) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* range = u->op == Op::kRange ? sharing.Instead(u) : nullptr;
    const UOp* to = range ? map.Get(range)
                          : body.context->Rebuild(u, *body.context, {srcs.data(), srcs.size()});
    map[u] = to;
    body.CarryOver(u, to);
  }
  body.root = map.Get(body.root);
}

}  // namespace tg::lower
