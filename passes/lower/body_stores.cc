// Stores with separate loops or work-groups.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/lower/body_lowering.h"

namespace tg {

void BodyLowering::FindReaders() {
  NodeSet read;
  for (size_t n = 0; n < body_.root->num_srcs; ++n) {
    for (const UOp* u : PostOrder(body_.root->src(n))) {
      if (u->op == Op::kStaged) only_reader_[u] = read.Insert(u) ? n + 1 : 0;
    }
  }
}

const UOp* BodyLowering::ForEachStore(const UOp* first) {
  // Groups beyond the grid, which do nothing, have the last one's arguments.
  const UOp* last = b_.Index(static_cast<int64_t>(body_.root->num_srcs) - 1);
  const UOp* store = simplify_(b_.Alu(Op::kMin, {where_.store, last}));
  NodeMap<const UOp*> changed;
  for (const Correspondence& all : *isomorphic_) {
    std::vector<const UOp*> srcs = {store};
    srcs.insert(srcs.end(), all.begin(), all.end());
    changed[all[0]] = b_.context().Make(Op::kPick, all[0]->dtype, srcs);
  }
  return Replaced(first, changed);
}

const UOp* BodyLowering::LowerInOwnLoops(const UOp* store, size_t number) {
  if (where_.own_loops.empty()) return LowerStore(store);
  std::vector<const UOp*> ranges;
  for (size_t n = 0; n < where_.own_loops.size(); ++n) {
    const UOp*& range = where_.axis[where_.own_loops[n]];
    const UOp* size = first_loops_[n]->src(0);
    const bool leave_out = where_.store && !isomorphic_ && n == 0;
    if (leave_out) size = StepsInGroupsOf(number, size);
    if (number > 0 || leave_out) range = b_.Range(size);
    own_loop_[range] = n + 1;
    ranges.push_back(range);
  }
  const UOp* token = LowerStore(store);
  return token ? b_.End(ReadInOwnGroups(token, number, ranges), ranges) : nullptr;
}

const UOp* BodyLowering::ReadInOwnGroups(const UOp* token, size_t store,
                                         const std::vector<const UOp*>& own) {
  const auto is_own = [&](const LeftOut& l) { return l.store == store; };
  if (llvm::none_of(left_out_, is_own)) return token;
  const std::vector<const UOp*> order = PostOrder(token);
  const auto depends = [&](const NodeSet& leaves) {
    NodeSet out = leaves;
    for (const UOp* u : order) {
      if (llvm::any_of(u->srcs(), [&](const UOp* s) { return out.Contains(s); })) out.Insert(u);
    }
    return out;
  };
  // The loops of which other groups take no step, and those inside of them.
  NodeSet loops;
  for (const UOp* range : own) loops.Insert(range);
  for (const LeftOut& l : left_out_) {
    if (is_own(l)) loops.Insert(l.range);
  }
  const NodeSet inside = depends(loops);
  for (const UOp* u : order) {
    if (u->op != Op::kEnd || !inside.Contains(u)) continue;
    for (const UOp* range : u->srcs().subspan(1)) loops.Insert(range);
  }
  const NodeSet in_loops = depends(loops);
  const auto is_read_outside = [&](const UOp* u) {
    const auto is_memory = [&](const LeftOut& l) { return l.memory == MemoryOf(u); };
    return u->op == Op::kLoad && llvm::any_of(left_out_, is_memory) &&
           llvm::none_of(u->src(0)->srcs().subspan(1),
                         [&](const UOp* s) { return in_loops.Contains(s); });
  };
  NodeMap<const UOp*> made;
  llvm::SmallVector<const UOp*, 4> srcs;
  for (const UOp* u : order) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(made.Get(s));
    if (is_read_outside(u)) {
      const UOp* address = srcs[0];
      const UOp* gate = b_.Not(IsOther(store));
      if (address->num_srcs > 2) gate = Both(b_, address->src(2), gate);
      srcs[0] = b_.IndexPtr(address->src(0), address->src(1), simplify_(gate));
    }
    made[u] = HasSources(u, {srcs.data(), srcs.size()})
                  ? u
                  : b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
  }
  return made.Get(token);
}

const UOp* BodyLowering::IsOther(size_t store) {
  return b_.Alu(Op::kCmpNe, {where_.store, b_.Index(static_cast<int64_t>(store))});
}

const UOp* BodyLowering::StepsInGroupsOf(size_t store, const UOp* steps) {
  return simplify_(b_.Where(IsOther(store), b_.Index(0), steps));
}

}  // namespace tg
