// HalfFactors: rounds the factors of matrix products to halves, before kernelize, so that its rules
// for products of halves (tiles of matrix instructions, attention in one kernel, layouts of
// channels) reach a network in f32. Sums stay in f32.
#ifndef TG_PASSES_HALF_FACTORS_H_
#define TG_PASSES_HALF_FACTORS_H_

#include "passes/pass.h"

namespace tg::half {

// Runs on graphs, and changes nothing for a target without matrix instructions that sum products of
// halves in f32. Sets ModuleFlag::kWideHalves in a module that it changes.
extern const passes::Pass kHalfFactorsPass;

}  // namespace tg::half

#endif  // TG_PASSES_HALF_FACTORS_H_
