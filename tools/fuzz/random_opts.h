// Any legal opts for a kernel, and values staged anywhere in it.
#ifndef TG_TOOLS_FUZZ_RANDOM_OPTS_H_
#define TG_TOOLS_FUZZ_RANDOM_OPTS_H_

#include "ir/module.h"
#include "ir/testing/rng.h"
#include "passes/target.h"

namespace tg::fuzz {

// Gives `kernel` (at stage kernel) up to six opts that ApplyOpt takes one after the other.
void ChooseRandomOpts(const Module& module, Kernel& kernel, const Target& target,
                      testing::Rng& rng);

// Has `kernel` (at stage kernel, without opts) keep some of its values in memory of its own, unless
// it reads what it writes.
void StageAtRandom(const Module& module, Kernel& kernel, const Target& target, testing::Rng& rng);

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_RANDOM_OPTS_H_
