// horizontal-fusion: horizontal fusion (stage linear). Fuses independent kernels into one launch in
// which each has separate work-groups, as in Li et al., "Automatic Horizontal Fusion for GPU
// Kernels" (CGO 2022).
//
//   launches      the launches of kernels and their dependences        launches.h
//   choice        the choice of kernels to fuse                        choice.h
//   work          the time of a kernel's arithmetic                    work.h
//   partition     the work-groups of each member                       partition_grid.h
//   merge         merging their lists of instructions                  merge.h
#ifndef TG_PASSES_HORIZONTAL_FUSION_HORIZONTAL_FUSION_H_
#define TG_PASSES_HORIZONTAL_FUSION_HORIZONTAL_FUSION_H_

#include "passes/pass.h"

namespace tg {

extern const Pass kHorizontalFusionPass;

}  // namespace tg

#endif  // TG_PASSES_HORIZONTAL_FUSION_HORIZONTAL_FUSION_H_
