#include "passes/lower/free_leaves.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace tg {

llvm::SmallVector<const UOp*, 16> FreeLeaves::Compute(const UOp* u) const {
  llvm::SmallVector<const UOp*, 16> out;
  for (const UOp* s : u->srcs()) {
    const auto& leaves = rows_.Get(s).leaves;
    out.append(leaves.begin(), leaves.end());
  }
  if (u->op == Op::kRange || u->op == Op::kUnroll) out.push_back(u);
  std::sort(out.begin(), out.end(), [](const UOp* a, const UOp* b) { return a->id < b->id; });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (u->op == Op::kEnd || u->op == Op::kReduce) {
    llvm::erase_if(out, [&](const UOp* leaf) {
      return std::find(u->srcs().begin() + 1, u->srcs().end(), leaf) != u->srcs().end();
    });
  }
  // All lanes are stored: what comes after varies over those of its own address alone.
  if (u->op == Op::kStore) {
    llvm::erase_if(out, [](const UOp* leaf) { return leaf->op == Op::kUnroll; });
  }
  if (u->op == Op::kContract) {
    const auto axes = u->list();
    llvm::erase_if(out, [&](const UOp* leaf) {
      return leaf->op == Op::kUnroll &&
             std::find(axes.begin(), axes.end(), leaf->word()) != axes.end();
    });
  }
  return out;
}

llvm::ArrayRef<const UOp*> FreeLeaves::Of(const UOp* u) {
  if (const Row& row = rows_.Get(u); row.done) return row.leaves;
  llvm::SmallVector<const UOp*, 32> stack = {u};
  while (!stack.empty()) {
    const UOp* top = stack.back();
    const size_t before = stack.size();
    for (const UOp* s : top->srcs()) {
      if (!rows_.Get(s).done) stack.push_back(s);
    }
    if (stack.size() != before) continue;
    stack.pop_back();
    if (rows_.Get(top).done) continue;
    const auto leaves = Compute(top);
    Row& row = rows_[top];
    row.leaves.assign(leaves.begin(), leaves.end());
    row.done = true;
  }
  return rows_[u].leaves;
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
