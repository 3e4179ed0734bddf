// Random kernels at stage expanded, with input data, for the tests of devectorize.
#ifndef TG_PASSES_DEVECTORIZE_RANDOM_KERNEL_H_
#define TG_PASSES_DEVECTORIZE_RANDOM_KERNEL_H_

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "ir/builder.h"
#include "ir/interpret/host_buffer.h"
#include "ir/module.h"

namespace tg::devectorize {

struct RandomKernelOptions {
  bool f64 = true;
};

// A module of one kernel `@k` whose slots are `buffers`, in order; slot 0 is its output. The kernel
// reads only defined elements, and no two work-items store to one element.
//
// The kernel has a grid, perhaps a loop with register scratch in it, gathers at affine indices in
// random lane orders with and without gates, arithmetic in all types, and reductions of lanes.
struct RandomKernel {
  std::unique_ptr<Module> module;
  std::vector<interpret::HostBuffer> buffers;
};
RandomKernel MakeRandomKernel(uint64_t seed, const RandomKernelOptions& options);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_RANDOM_KERNEL_H_
