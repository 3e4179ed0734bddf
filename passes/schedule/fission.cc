#include "passes/schedule/fission.h"

#include "ir/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/vectorization_cost.h"

namespace tg {
namespace {

// Staged sums may take this part of the core's cache, one in kStagedSumsCacheShare: they are
// written and read once.
constexpr int64_t kStagedSumsCacheShare = 4;

// A reduce with many terms that is not computed for each term of another reduce.
bool IsLongSum(const ScheduleBuilder& t, const VectorizationCost& lanes, const UOp* reduce) {
  constexpr int64_t kLongTerms = 32;
  if (lanes.LastAxis(reduce) == kNoAxis) return false;
  int64_t terms = 1;
  for (size_t n = 0; n < t.schedule().base.size(); ++n) {
    const BaseAxis& base = t.schedule().base[n];
    if (base.reduce == reduce) terms = SaturatingMul(terms, base.max_size);
    if (!base.IsStored() && lanes.VariesOver(reduce, n) && base.reduce != reduce) return false;
  }
  return terms >= kLongTerms;
}

NodeSet Below(const UOp* root, const NodeSet& leaves) {
  NodeSet seen;
  std::vector<const UOp*> stack = {root};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (!seen.Insert(u) || leaves.Contains(u)) continue;
    stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
  }
  return seen;
}

}  // namespace

void FindStagedSums(ScheduleBuilder& t, bool share) {
  if (!t.MayStageSums() || t.schedule().stores != 1) return;
  const VectorizationCost lanes(t, 0);
  std::vector<const UOp*> sums;
  std::vector<int64_t> read;
  for (const VectorizationCost::Reduce& reduce : lanes.reduces()) {
    if (!IsLongSum(t, lanes, reduce.node)) continue;
    const NodeSet below = Below(reduce.node, {});
    std::vector<int64_t> own;
    for (const Access& a : t.accesses()) {
      if (a.is_store() || !below.Contains(a.node)) continue;
      if (!share && llvm::is_contained(read, a.slot)) return;
      own.push_back(a.slot);
    }
    read.insert(read.end(), own.begin(), own.end());
    sums.push_back(reduce.node);
  }
  if (sums.size() < 2) return;
  sums.pop_back();
  t.StageSums(std::move(sums));
}

void FindFissionLoop(ScheduleBuilder& t) {
  if (t.sums().empty()) return;
  int64_t bytes = t.schedule().UpcastSize(), element = 0;
  for (const UOp* sum : t.sums()) element += ByteSize(sum->dtype.scalar());
  bytes = SaturatingMul(bytes, element);
  std::string first;
  const AxisList loops = t.Axes(AxisKind::kLoop);
  for (size_t i : llvm::reverse(loops)) {
    bytes = SaturatingMul(bytes, t.Size(i));
    if (bytes > t.target().core_cache_bytes / kStagedSumsCacheShare) break;
    first = t.schedule().axes[i].name;
  }
  if (first.empty()) t.StageSums({});
  t.SetFissionLoop(std::move(first));
}

std::vector<NodeSet> LoopBodies(const ScheduleBuilder& t) {
  NodeSet kept;
  for (const UOp* sum : t.sums()) kept.Insert(sum);
  std::vector<NodeSet> bodies;
  for (const UOp* sum : t.sums()) bodies.push_back(Below(sum, {}));
  for (const UOp* store : t.kernel().body.root->srcs()) bodies.push_back(Below(store, kept));
  return bodies;
}

}  // namespace tg
