// Joins kernels that compute a few results each and that nothing waits for, as an optimizer has for
// each bias and each scale of a norm: a launch takes longer than the work.
#ifndef TG_PASSES_KERNELIZE_SMALL_RESULTS_H_
#define TG_PASSES_KERNELIZE_SMALL_RESULTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/shape.h"
#include "passes/kernelize/hazards.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/placement.h"
#include "passes/target.h"

namespace tg::kernelize {

// Unites those of `groups` of drafts, each to become one kernel, that update several buffers in
// place (in_place_groups.h), have one shape of at most Target::small_grid elements, and for which
// no kernel of another group waits. Since these may run last, any of them may run together. They
// need no operand in common. `max_inputs`: buffers of a kernel; 0: no limit.
void JoinSmallResults(const std::vector<KernelDraft>& drafts, const WriteAfterRead& order,
                      Placement& placement, ShapeMap& shapes, const passes::Target& target,
                      int64_t max_inputs, std::vector<std::vector<size_t>>& groups);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_SMALL_RESULTS_H_
