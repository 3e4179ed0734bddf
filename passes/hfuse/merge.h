// Several linear kernels as one.
#ifndef TG_PASSES_HFUSE_MERGE_H_
#define TG_PASSES_HFUSE_MERGE_H_

#include <memory>
#include <span>

#include "ir/module.h"
#include "passes/hfuse/choice.h"
#include "passes/target.h"

namespace tg {

// A kernel (stage linear) of one dimension of groups, as many as all parts have. Each does what one
// of a part's does; deal.h says which, with the part first whose groups take longest. Its name is
// for the caller to choose. `slots`: of each part. Null where the parts cannot be so merged: a grid
// of symbolic size, groups of different sizes, more groups or local memory than the target has, one
// argument of two types, or instructions of two parts that are one node and cannot be done by all
// groups.
std::unique_ptr<Kernel> MergeKernels(std::span<const Kernel* const> parts, const PartSlots& slots,
                                     const Target& target);

}  // namespace tg

#endif  // TG_PASSES_HFUSE_MERGE_H_
