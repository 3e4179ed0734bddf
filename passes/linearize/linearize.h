// linearize: orders the nodes of a kernel's graph (stage expanded) for execution (stage linear).
//
//   nest          the loop that each node is part of, and         nest.h
//                 loop-invariant code motion
//   early loads   gates for loads before a loop that may         early_loads.h
//                 have no iterations
//   barriers      whether all work-items reach each barrier       block_writer.h
//   memory order  loads before the stores that overwrite          memory_order.h
//   schedule      the order in each block                         instruction_order.h
//   blocks        ranges and ends, if and endif                   block_writer.h
//
// In Body::linear a loop consists of the nodes between a `range` and the `end` that names it.
// Stores whose address has a gate are between an `if` of that gate and its `endif`; the gate also
// stays in the address. Every node appears once, after its sources; the sink is last.
#ifndef TG_PASSES_LINEARIZE_LINEARIZE_H_
#define TG_PASSES_LINEARIZE_LINEARIZE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/pass.h"

namespace tg::linearize {

// `shuffle`: the seed for a random valid order; -1: the default order. Fails, naming the kernel, if
// loops cannot be nested or ordered, or if a barrier is under control flow that may diverge between
// the work-items of a group. `module` declares the bounds of variables; without it a variable may
// have any value.
absl::Status LinearizeKernel(Kernel& kernel, int64_t shuffle = -1, const Module* module = nullptr);

extern const passes::Pass kLinearizePass;

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_LINEARIZE_H_
