#include "codegen/clike/unroll.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::clike {

bool ShouldUnroll(const Kernel& kernel, size_t position, const passes::Target& target) {
  constexpr int64_t kSteps = 4;
  const std::vector<const UOp*>& order = kernel.body.linear;
  const UOp* range = order[position];
  const auto is_short = [](const UOp* u) {
    return IsConst(u->src(0)) && u->src(0)->word() <= kSteps;
  };
  if (target.unrolled_instructions == 0 || !is_short(range)) return false;
  const auto max_nodes = static_cast<size_t>(target.unrolled_instructions / kSteps);
  const auto depends = [&](const UOp* gate) { return llvm::is_contained(PostOrder(gate), range); };
  size_t open = 1, nodes = 0;
  bool decides = false, all_short = true;
  for (size_t at = position + 1; open > 0 && at < order.size(); ++at) {
    const UOp* u = order[at];
    if (++nodes > max_nodes) return false;
    if (u->op == Op::kRange) {
      ++open;
      all_short &= is_short(u);
    } else if (u->op == Op::kEnd) {
      open -= std::min(open, u->num_srcs - size_t{1});
    } else if (u->op == Op::kLoad && u->src(0)->op == Op::kIndex && u->src(0)->num_srcs > 2) {
      decides = decides || depends(u->src(0)->src(2));
    }
  }
  return decides || all_short;
}

}  // namespace tg::clike
