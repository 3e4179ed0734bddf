#include "runtime/plan/needed_shares.h"

#include <algorithm>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/bounds.h"

namespace tg::runtime {

NeededShares FindNeededShares(const Kernel& kernel, const NodeSet& addresses) {
  NeededShares out;
  std::vector<int64_t> blocks;
  for (const Directive& directive : kernel.directives) {
    if (directive.name == "overlap" && directive.args.size() == 2) {
      blocks.push_back(directive.args[1].number);
    }
  }
  if (blocks.empty()) return out;
  analysis::Bounds bounds(*kernel.body.context);
  for (const UOp* u : kernel.body.linear) {
    if (u->op != Op::kMin || !addresses.Contains(u)) continue;
    const UOp *start = u->src(0), *last = u->src(1);
    if (IsConst(start)) std::swap(start, last);
    if (!IsConst(last) || IsConst(start)) continue;
    const int64_t end = bounds.Max(start), divisor = bounds.KnownDivisor(start);
    const auto block = llvm::find_if(blocks, [&](int64_t n) {
      return divisor % n == 0 && end > last->word() && end - last->word() < n;
    });
    if (block == blocks.end()) continue;
    const double share =
        static_cast<double>(last->word() + *block) / static_cast<double>(end + *block);
    // The innermost loop that the start depends on runs the repeated block.
    const UOp* range = nullptr;
    for (const UOp* s : PostOrder(start)) {
      if (s->op == Op::kRange && (!range || s->id > range->id)) range = s;
    }
    if (range) {
      out.of_steps[range] = share;
    } else {
      out.of_items = std::min(out.of_items, share);
    }
  }
  return out;
}

}  // namespace tg::runtime
