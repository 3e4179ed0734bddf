#include "codegen/c/regions.h"

namespace tg::c {

Regions::Regions(const Kernel& kernel) {
  const std::vector<const UOp*>& order = kernel.body.linear;
  std::vector<const UOp*> open;
  const auto closed = [](const UOp* u) {
    return u->op == Op::kEnd ? size_t{u->num_srcs} - 1 : u->op == Op::kEndIf ? size_t{1} : 0;
  };
  for (const UOp* u : order) {
    for (size_t i = closed(u); i > 0 && !open.empty(); --i) open.pop_back();
    if (u->op == Op::kBarrier) {
      several_ = true;
      with_barrier_.insert(open.begin(), open.end());
    }
    if (u->op == Op::kRange || u->op == Op::kIf) open.push_back(u);
  }
  int region = 0;
  for (const UOp* u : order) {
    bool divides = u->op == Op::kBarrier;
    for (size_t i = closed(u); i > 0 && !open.empty(); --i) {
      divides |= HasBarrier(open.back());
      open.pop_back();
    }
    if (u->op == Op::kRange || u->op == Op::kIf) {
      divides |= HasBarrier(u);
      open.push_back(u);
    }
    if (divides) ++region;
    region_.push_back(region);
  }
}

}  // namespace tg::c
