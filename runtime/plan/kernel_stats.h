// How much work a kernel does: arithmetic and memory traffic, counted on its linear form.
#ifndef TG_RUNTIME_PLAN_KERNEL_STATS_H_
#define TG_RUNTIME_PLAN_KERNEL_STATS_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace tg::runtime {

// Of one launch, all work-items together. Doubles, since products of trip counts pass 2^63.
struct KernelWork {
  // Elementwise operations, by lanes, that compute values rather than addresses or gates; a
  // multiply-add counts 2, a matrix instruction 2 for each of its products. Casts count nothing,
  // nor does the opposite of a comparison: there is no op for ==.
  double ops = 0;
  double load_bytes = 0, store_bytes = 0;  // of global memory, each access counted
};

using VarLookup = std::function<int64_t(std::string_view)>;

// The work of a kernel at stage linear where each variable has the value that `var` gives. Gated
// accesses count as made, and blocks as entered, so it is an upper bound; but a block or a loop of
// which one work-item id decides counts as often as it is gone through on average.
// InvalidArgument where the size of a loop or a grid depends on anything else but variables, as on
// another loop's counter.
absl::StatusOr<KernelWork> CountWork(const Kernel& kernel, const VarLookup& var);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_KERNEL_STATS_H_
