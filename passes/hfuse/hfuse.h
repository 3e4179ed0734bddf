// hfuse: kernels that do not wait for each other become one launch (stage linear), in
// which each has groups of its own: horizontal fusion, as in Li et al., "Automatic Horizontal
// Fusion for GPU Kernels" (CGO 2022).
//
//   launches      where kernels are launched, and which of these wait for each other   launches.h
//   choice        which kernels become one                                            choice.h
//   merge         their lists of instructions as one                                  merge.h
#ifndef TG_PASSES_HFUSE_HFUSE_H_
#define TG_PASSES_HFUSE_HFUSE_H_

#include "passes/pass.h"

namespace tg {

extern const Pass kHfusePass;

}  // namespace tg

#endif  // TG_PASSES_HFUSE_HFUSE_H_
