// Groups of kernels that update buffers in place from each other's old contents, as an optimizer
// does with a weight and what it accumulates: one kernel reads an element of each buffer before it
// writes them, and makes one pass over the memory.
#ifndef TG_PASSES_KERNELIZE_IN_PLACE_GROUPS_H_
#define TG_PASSES_KERNELIZE_IN_PLACE_GROUPS_H_

#include <cstddef>
#include <vector>

#include "ir/shape.h"
#include "passes/kernelize/hazards.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/placement.h"

namespace tg::kernelize {

// Whether the draft computes each element of a whole buffer without sums.
bool IsElementwiseDraft(const KernelDraft& draft, ShapeMap& shapes);

// Whether the drafts, which each overwrite what others of them read, may be one kernel of at most
// `max_members`: they have one shape, and read the element that they write.
bool CanUpdateTogether(const std::vector<KernelDraft>& drafts, const std::vector<size_t>& members,
                       Placement& placement, ShapeMap& shapes, size_t max_members,
                       int64_t max_inputs);

// Returns groups of two to `max_members` drafts without reduces and of one shape. Each writer of a
// group waits for readers of what it overwrites, which are in the group and read the element that
// it writes; but for them, the group's drafts have one level. Lowers the level of the writers to
// that one. Drafts that must be together are in one of the groups. `level`: by draft
// (Waits::Levels). `max_inputs`: buffers of a kernel; 0: no limit.
std::vector<std::vector<size_t>> FindInPlaceGroups(const std::vector<KernelDraft>& drafts,
                                                   const WriteAfterRead& order,
                                                   Placement& placement, ShapeMap& shapes,
                                                   size_t max_members, int64_t max_inputs,
                                                   std::vector<size_t>& level);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_IN_PLACE_GROUPS_H_
