// Any legal opts for a kernel.
#ifndef TG_TOOLS_FUZZ_RANDOM_OPTS_H_
#define TG_TOOLS_FUZZ_RANDOM_OPTS_H_

#include "ir/module.h"
#include "ir/testing/rng.h"
#include "passes/target.h"

namespace tg::fuzz {

// Gives `kernel` (at stage kernel) up to six opts that ApplyOpt takes one after the other.
void ChooseRandomOpts(const Module& module, Kernel& kernel, const Target& target,
                      testing::Rng& rng);

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_RANDOM_OPTS_H_
