// Kernels that run as one because they stand side by side: they store values of one shape, none
// needs what another stores, and they read something in common (the queries, keys and values of
// attention, the halves of a rotation). One launch, and what is shared is read once.
#ifndef TG_PASSES_KERNELIZE_SIBLINGS_H_
#define TG_PASSES_KERNELIZE_SIBLINGS_H_

#include <vector>

#include "ir/shape.h"
#include "passes/kernelize/hazards.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/placement.h"
#include "passes/kernelize/realize.h"
#include "passes/target.h"

namespace tg {

// Positions of drafts, in groups of those that become one kernel, each group in order. Drafts that
// write a part of a buffer join others that write parts of it, which have no element in common;
// none of a group reads or writes what another overwrites. The drafts are those of `plan`, one for
// each value. `pieces`: assigns of parts that nothing reads before all are done (concatenate.h).
std::vector<std::vector<size_t>> FindSiblings(const std::vector<KernelDraft>& drafts,
                                              const RealizePlan& plan, const NodeSet& pieces,
                                              const WriteAfterRead& order, Placement& placement,
                                              ShapeMap& shapes, const Target& target,
                                              const RealizeOptions& options);

// The same order between groups as between their drafts.
WriteAfterRead OrderOfGroups(const std::vector<std::vector<size_t>>& groups,
                             const WriteAfterRead& order);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_SIBLINGS_H_
