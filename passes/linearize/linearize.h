// linearize: puts a kernel's graph (stage expanded) into the order in which it runs (stage linear).
//
//   nest          which loop each node is part of              nest.h
//   memory order  loads before the stores that overwrite       memory_order.h
//   schedule      the order in each block                      schedule.h
//   blocks        ranges and ends, if and endif                linearize.cc
//
// In Body::linear a loop is the nodes between a `range` and the `end` that names it, and stores
// whose address has a gate stand between an `if` of that gate and its `endif`; the gate stays in
// the address as well. Every node appears once, after its sources; the sink is last.
#ifndef TG_PASSES_LINEARIZE_LINEARIZE_H_
#define TG_PASSES_LINEARIZE_LINEARIZE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/pass.h"

namespace tg {

// `shuffle`: a seed for a random one of all orders that are held valid; -1: the usual order.
// An error names the kernel: loops that cannot be nested or ordered, a barrier under control flow
// that may differ between the work-items of a group.
absl::Status LinearizeKernel(Kernel& kernel, int64_t shuffle = -1);

extern const Pass kLinearizePass;

}  // namespace tg

#endif  // TG_PASSES_LINEARIZE_LINEARIZE_H_
