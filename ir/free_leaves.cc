#include "ir/free_leaves.h"

#include <algorithm>

#include "base/check.h"
#include "ir/op_groups.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {

namespace {

bool IsBefore(const UOp* a, const UOp* b) { return a->id < b->id; }

// Whether a node is, or closes, a loop or an unrolled axis.
bool Changes(Op op) {
  switch (GroupOf(op)) {
    case OpGroup::kLeaf:
      return op == Op::kRange || op == Op::kUnroll;
    case OpGroup::kReduce:
      return op == Op::kReduce;
    case OpGroup::kOrder:
      return op == Op::kEnd;
    case OpGroup::kMemory:
      return op == Op::kStore || op == Op::kStage;
    case OpGroup::kLanes:
      return op == Op::kContract;
    case OpGroup::kArithmetic:
    case OpGroup::kConversion:
    case OpGroup::kIdentity:
    case OpGroup::kMovement:
    case OpGroup::kTensor:
    case OpGroup::kSubgroup:
      return false;
  }
  TG_UNREACHABLE();
}

}  // namespace

const FreeLeaves::Leaves* FreeLeaves::Compute(const UOp* u) {
  const Leaves* most = &none_;
  for (const UOp* s : u->srcs()) {
    if (leaves_.Get(s)->size() > most->size()) most = leaves_.Get(s);
  }
  const auto within_most = [&](const UOp* s) {
    const Leaves* its = leaves_.Get(s);
    return its == most ||
           std::includes(most->begin(), most->end(), its->begin(), its->end(), IsBefore);
  };
  if (!Changes(u->op) && llvm::all_of(u->srcs(), within_most)) return most;
  Leaves& out = owned_.emplace_back();
  for (const UOp* s : u->srcs()) {
    const Leaves* its = leaves_.Get(s);
    out.append(its->begin(), its->end());
  }
  if (u->op == Op::kRange || u->op == Op::kUnroll) out.push_back(u);
  std::sort(out.begin(), out.end(), IsBefore);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (u->op == Op::kEnd || u->op == Op::kReduce) {
    llvm::erase_if(out, [&](const UOp* leaf) {
      return std::find(u->srcs().begin() + 1, u->srcs().end(), leaf) != u->srcs().end();
    });
  }
  // A store writes all lanes, so its token does not vary over unrolled axes.
  if (u->op == Op::kStore) {
    llvm::erase_if(out, [](const UOp* leaf) { return leaf->op == Op::kUnroll; });
  }
  if (u->op == Op::kStage) {
    const UOpSpan axes = StageAxes(u);
    llvm::erase_if(out, [&](const UOp* leaf) {
      return std::find(axes.begin(), axes.end(), leaf) != axes.end();
    });
  }
  if (u->op == Op::kContract) {
    const auto axes = u->list();
    llvm::erase_if(out, [&](const UOp* leaf) {
      return leaf->op == Op::kUnroll &&
             std::find(axes.begin(), axes.end(), leaf->word()) != axes.end();
    });
  }
  return &out;
}

llvm::ArrayRef<const UOp*> FreeLeaves::Of(const UOp* u) {
  if (const Leaves* known = leaves_.Get(u)) return *known;
  llvm::SmallVector<const UOp*, 32> stack = {u};
  while (!stack.empty()) {
    const UOp* top = stack.back();
    const size_t before = stack.size();
    for (const UOp* s : top->srcs()) {
      if (!leaves_.Get(s)) stack.push_back(s);
    }
    if (stack.size() != before) continue;
    stack.pop_back();
    if (!leaves_.Get(top)) leaves_[top] = Compute(top);
  }
  return *leaves_[u];
}

std::vector<const UOp*> FreeLeaves::RangesOf(const UOp* u) {
  std::vector<const UOp*> out;
  for (const UOp* leaf : Of(u)) {
    if (leaf->op == Op::kRange) out.push_back(leaf);
  }
  return out;
}

std::vector<const UOp*> FreeLeaves::UnrollsOf(const UOp* u) {
  std::vector<const UOp*> out;
  for (const UOp* leaf : Of(u)) {
    if (leaf->op == Op::kUnroll) out.push_back(leaf);
  }
  std::sort(out.begin(), out.end(),
            [](const UOp* a, const UOp* b) { return a->word() < b->word(); });
  return out;
}

const UOp* LaneNumber(Builder& b, const std::vector<const UOp*>& unrolls, int64_t& count) {
  const UOp* number = nullptr;
  count = 1;
  for (size_t i = unrolls.size(); i-- > 0;) {
    const UOp* term = count == 1 ? unrolls[i] : b.Mul(unrolls[i], b.Index(count));
    number = number ? b.Add(term, number) : term;
    count *= unrolls[i]->word(1);
  }
  return number ? number : b.Index(0);
}

}  // namespace tg
