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

// Applies directive D to `name` in blocks of 4 neighbours, if at least 32 such blocks exist.
// Returns the name of the outer axis.
template <typename D>
std::string InFours(ScheduleBuilder& t, const std::string& name) {
  const size_t axis = AxisOf(t, name);
  if (t.Size(axis) % 4 != 0 || t.Size(axis) < 128 || !t.Try<D>(axis, 4)) return name;
  return name + ".0";
}

// The same, but first pads the axis, where the padding is small, if too few of `most` work-items
// divide the outer axis.
// The padding; false if the axis is in no blocks of 4.
bool PadForItems(ScheduleBuilder& t, const std::string& name, int64_t most);
template <typename D>
std::string InFoursPadded(ScheduleBuilder& t, const std::string& name, int64_t most) {
  return PadForItems(t, name, most) ? InFours<D>(t, name) : name;
}

// The number of reduces that need a loop.
size_t ReducesOf(const ScheduleBuilder& t);

// Unrolls the last axis of each reduce, and the one before it where both are small.
void UnrollReduce(ScheduleBuilder& t);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_GPU_AXES_H_
