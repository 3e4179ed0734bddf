// Estimates the work of a linear kernel from its instructions.
#ifndef TG_PASSES_HORIZONTAL_FUSION_WORK_H_
#define TG_PASSES_HORIZONTAL_FUSION_WORK_H_

#include "ir/module.h"
#include "passes/target.h"

namespace tg {

// Seconds for the float arithmetic of one launch that uses the whole target. A symbolic size counts
// as 1, a lower bound.
double ArithmeticSeconds(const Kernel& kernel, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_HORIZONTAL_FUSION_WORK_H_
