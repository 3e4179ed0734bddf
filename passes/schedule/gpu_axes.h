// Queries about axes, and ways to divide them, that the rules for GPUs share.
#ifndef TG_PASSES_SCHEDULE_GPU_AXES_H_
#define TG_PASSES_SCHEDULE_GPU_AXES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "passes/schedule/schedule_builder.h"

namespace tg {

// Work-items that keep the device busy. In a kernel with fewer, several may share a reduce.
int64_t EnoughItems(const ScheduleBuilder& t);

// The position of the axis of that name, which must exist.
size_t AxisOf(const ScheduleBuilder& t, std::string_view name);

// Applies `directive` to `name` in blocks of 4 neighbours, if at least 32 such blocks exist.
// Returns the name of the outer axis.
std::string InFours(ScheduleBuilder& t, std::string_view directive, const std::string& name);

// The same, but first pads the axis, where the padding is small, if too few of `most` work-items
// divide the outer axis.
std::string InFoursPadded(ScheduleBuilder& t, std::string_view directive, const std::string& name,
                          int64_t most);

// The number of reduces that need a loop.
size_t ReducesOf(const ScheduleBuilder& t);

// Unrolls the last axis of each reduce, and the one before it where both are small.
void UnrollReduce(ScheduleBuilder& t);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_GPU_AXES_H_
