// Queries about axes, and ways to split them, which the rules for GPUs share.
#ifndef TG_PASSES_SCHEDULE_GPU_AXES_H_
#define TG_PASSES_SCHEDULE_GPU_AXES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "passes/schedule/schedule_builder.h"

namespace tg {

// The number of work-items that keeps the device busy. In a kernel with fewer results, several
// work-items may share a reduce.
int64_t EnoughItems(const ScheduleBuilder& t);

// Applies D to 4 iterations of the axis if 4 divides it and at least 32 blocks result. Returns the
// name of the axis that remains outside: `name` with ".0", or `name` itself if nothing was done.
template <typename D>
std::string InFours(ScheduleBuilder& t, const std::string& name) {
  const size_t axis = t.nest().AxisNamed(name);
  if (t.Size(axis) % 4 != 0 || t.Size(axis) < 128 || !t.Try<D>(axis, 4)) return name;
  return name + ".0";
}

// Pads the axis if few of `most` work-items could share its blocks evenly and the padding adds at
// most 1/16. Returns whether 4 divided the axis before.
bool PadForItems(ScheduleBuilder& t, const std::string& name, int64_t most);

// InFours after PadForItems.
template <typename D>
std::string InFoursPadded(ScheduleBuilder& t, const std::string& name, int64_t most) {
  return PadForItems(t, name, most) ? InFours<D>(t, name) : name;
}

// The axes of each reduce that are loops.
std::vector<AxisList> AxesByReduce(const ScheduleBuilder& t);

// Whether a reduce is computed again for each term of another one.
bool Nests(const ScheduleBuilder& t);

// The number of reduces of the kernel that need a loop.
size_t ReducesOf(const ScheduleBuilder& t);

// Unrolls the innermost axis of each reduce: all of a short one, four iterations of a long one. If
// that axis and the one around it have at most three iterations each, unrolls both.
void UnrollReduce(ScheduleBuilder& t);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_GPU_AXES_H_
