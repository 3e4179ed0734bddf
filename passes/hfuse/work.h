// What a linear kernel's instructions say: how long it takes, what they access.
#ifndef TG_PASSES_HFUSE_WORK_H_
#define TG_PASSES_HFUSE_WORK_H_

#include "ir/module.h"
#include "passes/target.h"

namespace tg {

// Seconds for the arithmetic on floats of one launch, with the whole target at work. A size that is
// not a number counts as 1: the least that it can be.
double ArithmeticSeconds(const Kernel& kernel, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_HFUSE_WORK_H_
