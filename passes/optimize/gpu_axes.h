// Queries about axes, and ways to divide them, that the rules for GPUs share.
#ifndef TG_PASSES_OPTIMIZE_GPU_AXES_H_
#define TG_PASSES_OPTIMIZE_GPU_AXES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "passes/optimize/heuristic.h"

namespace tg {

// Work-items that keep the device busy. In a kernel with fewer, several may share a reduce.
int64_t EnoughItems(const Tuner& t);

// The position of the axis of that name, which must exist.
size_t AxisOf(const Tuner& t, std::string_view name);

// Applies `opt` to `name` in blocks of 4 neighbours, if at least 32 such blocks exist. Returns the
// name of the outer axis.
std::string InFours(Tuner& t, std::string_view opt, const std::string& name);

// The same, but first pads the axis, where the padding is small, if too few of `most` work-items
// divide the outer axis.
std::string InFoursPadded(Tuner& t, std::string_view opt, const std::string& name, int64_t most);

// The number of reduces that need a loop.
size_t ReducesOf(const Tuner& t);

// Unrolls the last axis of each reduce, and the one before it where both are small.
void UnrollReduce(Tuner& t);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_GPU_AXES_H_
