// What the rules for GPUs share: axes by name, and how they are divided.
#ifndef TG_PASSES_OPTIMIZE_GPU_AXES_H_
#define TG_PASSES_OPTIMIZE_GPU_AXES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "passes/optimize/heuristic.h"

namespace tg {

// Work-items that keep the device busy: of a kernel of fewer, several may share a reduce.
int64_t EnoughItems(const Tuner& t);

// The position of the axis of that name, which there is.
size_t AxisOf(const Tuner& t, std::string_view name);

// `name` in blocks of 4 neighbours, if there are that many for 32 work-items. The name of what is
// left.
std::string InFours(Tuner& t, std::string_view opt, const std::string& name);

// The same, but an axis of which too few work-items, of `most`, would divide what is left is padded
// first, where that wastes little.
std::string InFoursPadded(Tuner& t, std::string_view opt, const std::string& name, int64_t most);

// How many reduces are loops.
size_t ReducesOf(const Tuner& t);

// The last axis of each reduce as lanes; two small ones.
void UnrollReduce(Tuner& t);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_GPU_AXES_H_
