#include "passes/analysis/extents.h"

#include <algorithm>
#include <iterator>

#include "llvm/ADT/STLExtras.h"

namespace tg::analysis {
namespace {

bool ById(const UOp* a, const UOp* b) { return a->id < b->id; }

}  // namespace

void Extents::Multiply(const Dim& extent) {
  if (!extent.is_symbolic()) {
    number *= extent.value();
    return;
  }
  llvm::SmallVector<const UOp*, 4> stack = {extent.symbol()};
  while (!stack.empty()) {
    const UOp* u = stack.pop_back_val();
    if (u->op == Op::kConst) {
      number *= u->word();
    } else if (u->op == Op::kMul) {
      stack.append(u->srcs().begin(), u->srcs().end());
    } else {
      symbols.insert(llvm::upper_bound(symbols, u, ById), u);
    }
  }
}

bool Extents::Divide(const Extents& by) {
  if (by.number == 0 || number % by.number != 0) return false;
  llvm::SmallVector<const UOp*, 2> rest;
  std::set_difference(symbols.begin(), symbols.end(), by.symbols.begin(), by.symbols.end(),
                      std::back_inserter(rest), ById);
  if (rest.size() + by.symbols.size() != symbols.size()) return false;
  number /= by.number;
  symbols = std::move(rest);
  return true;
}

}  // namespace tg::analysis
