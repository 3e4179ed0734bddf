// Merges several linear kernels into one.
#ifndef TG_PASSES_HORIZONTAL_FUSION_MERGE_H_
#define TG_PASSES_HORIZONTAL_FUSION_MERGE_H_

#include <memory>
#include <span>

#include "ir/module.h"
#include "passes/horizontal_fusion/choice.h"
#include "passes/target.h"

namespace tg {

// Returns a kernel (stage linear) with a one-dimensional grid that has the groups of all members.
// Each group does the work of one group of a member, distributed as in partition_grid.h, with the
// member of the longest groups first. The caller sets the name. `slots`: the slots of each member.
// Null if the members cannot be merged: a grid has a symbolic size, groups have different sizes,
// the target lacks groups or local memory, one argument has two types, or two members share a node
// that not all groups may execute.
std::unique_ptr<Kernel> MergeKernels(std::span<const Kernel* const> members,
                                     const MemberSlots& slots, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_HORIZONTAL_FUSION_MERGE_H_
