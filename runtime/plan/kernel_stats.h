// The work of a kernel: arithmetic and memory traffic, counted on its linear form.
#ifndef TG_RUNTIME_PLAN_KERNEL_STATS_H_
#define TG_RUNTIME_PLAN_KERNEL_STATS_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace tg::runtime {

// The work of one launch, summed over all work-items. Doubles, since products of trip counts exceed
// 2^63.
struct KernelWork {
  // Elementwise operations per lane that compute values, not addresses, gates or masks (a select of
  // a constant by index arithmetic), and that the result needs: steps of blocks that overlap, which
  // are computed twice, count once. A multiply-add counts 2, a matrix instruction 2 for each of its
  // products. Casts count 0. So does the negation of a comparison, because there is no op for ==.
  double ops = 0;
  double load_bytes = 0, store_bytes = 0;  // global memory only, including repeated accesses
};

using VarLookup = std::function<int64_t(std::string_view)>;

// Counts the work of a kernel at stage linear; `var` gives the value of each variable. Gated
// accesses count as executed and blocks as entered, unless variables alone decide that they are
// not, so the result is an upper bound. A block or loop that depends on a single work-item id
// counts with its mean number of executions. InvalidArgument if the size of a loop or grid depends
// on values other than variables, such as another loop's counter.
absl::StatusOr<KernelWork> CountWork(const Kernel& kernel, const VarLookup& var);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_KERNEL_STATS_H_
