// Chooses random legal directives for a kernel, and stages random values in it.
#ifndef TG_TOOLS_FUZZ_RANDOM_DIRECTIVES_H_
#define TG_TOOLS_FUZZ_RANDOM_DIRECTIVES_H_

#include "ir/module.h"
#include "ir/testing/rng.h"
#include "passes/target.h"

namespace tg::fuzz {

// Gives `kernel` (at stage kernel) up to six directives, each legal after the previous ones
// according to ApplyDirective, and
// such that the interpreter ends soon.
void ChooseRandomDirectives(const Module& module, Kernel& kernel, const passes::Target& target,
                            testing::Rng& rng);

// Stages random values of `kernel` (at stage kernel, without directives) in kernel memory, unless
// it reads a buffer that it writes, or copies would be filled too often.
void StageAtRandom(const Module& module, Kernel& kernel, const passes::Target& target,
                   testing::Rng& rng);

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_RANDOM_DIRECTIVES_H_
