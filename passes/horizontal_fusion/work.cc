#include "passes/horizontal_fusion/work.h"

#include <vector>

namespace tg {

double ArithmeticSeconds(const Kernel& kernel, const Target& target) {
  double times = 1, operations = 0;
  std::vector<double> outer;  // `times` outside each open loop
  const auto size_of = [](const UOp* u) {
    return IsConst(u->src(0)) ? static_cast<double>(u->src(0)->word()) : 1;
  };
  for (const UOp* u : kernel.body.linear) {
    if (u->op == Op::kSpecial) {
      times *= size_of(u);  // all of them precede their users
    } else if (u->op == Op::kRange) {
      outer.push_back(times);
      times *= size_of(u);
    } else if (u->op == Op::kEnd) {
      for (size_t i = 1; i < u->num_srcs && !outer.empty(); ++i) {
        times = outer.back();
        outer.pop_back();
      }
    } else if (IsElementwise(u->op) && u->op != Op::kCast && u->dtype.is_float()) {
      operations += times * u->dtype.lanes() * (u->op == Op::kMulAcc ? 2 : 1);
    }
  }
  return operations / target.flops_per_second;
}

}  // namespace tg
