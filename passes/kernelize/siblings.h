// Fuses sibling kernels: kernels that store values of the same shape, are independent of each
// other, and have a common input. Examples are the queries, keys and values of attention, and the
// halves of a rotation. The fused kernel needs one launch and reads the common input once.
// Products of matrices that matrix instructions compute stay alone, since a tile of them has one.
#ifndef TG_PASSES_KERNELIZE_SIBLINGS_H_
#define TG_PASSES_KERNELIZE_SIBLINGS_H_

#include <vector>

#include "ir/shape.h"
#include "passes/kernelize/hazards.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/placement.h"
#include "passes/target.h"

namespace tg::kernelize {

// The maximum number of siblings, enough for queries, keys, values and a gate. With more
// results, a kernel takes longer to compile and saves little: the products of one shape beyond
// these become another call of the same kernel.
constexpr size_t kMaxSiblings = 4;

// Returns groups of drafts, as positions in `drafts`; each group becomes one kernel. Positions in a
// group ascend. Drafts that write parts of one buffer may share a group if the parts are disjoint.
// No draft of a group reads or writes memory that another draft of the group overwrites, except
// the element that both compute (in_place_groups.h). `drafts`:
// the drafts of `plan`; one of several values already (joint_assigns.h) is a group by itself.
// `pieces`: assigns of parts of a buffer that nothing reads before all are done (concatenate.h).
std::vector<std::vector<size_t>> FindSiblings(const std::vector<KernelDraft>& drafts,
                                              const MaterializationPlan& plan,
                                              const NodeSet& pieces, const WriteAfterRead& order,
                                              Placement& placement, ShapeMap& shapes,
                                              const passes::Target& target,
                                              const MaterializationOptions& options);

// Translates the order between drafts into an order between their groups.
WriteAfterRead OrderOfGroups(const std::vector<std::vector<size_t>>& groups,
                             const WriteAfterRead& order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_SIBLINGS_H_
