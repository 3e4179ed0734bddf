// Queries about axes, and ways to split them, which the rules for GPUs share.
#ifndef TG_PASSES_SCHEDULE_GPU_AXES_H_
#define TG_PASSES_SCHEDULE_GPU_AXES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// The number of work-items that keeps the device busy. In a kernel with fewer results, several
// work-items may share a reduce.
int64_t EnoughItems(const ScheduleBuilder& t);

// Applies D to as many iterations of the axis as words are in an access, if that divides the axis
// and leaves blocks for twice the least work-items of a group. Returns the name of the axis that
// remains outside: `name` with ".0", or `name` itself if nothing was done.
template <typename D>
std::string InAccesses(ScheduleBuilder& t, const std::string& name) {
  const size_t axis = t.nest().AxisNamed(name);
  const int64_t words = t.target().AccessWords(), blocks = t.Size(axis) / words;
  const bool fits = t.Size(axis) % words == 0 && blocks >= 2 * t.target().least_group_items;
  return fits && t.Try<D>(axis, words) ? name + ".0" : name;
}

// Pads the axis if few of `most` work-items could share its blocks evenly and the padding adds at
// most Target::padding. Returns whether the words of an access divided the axis before.
bool PadForItems(ScheduleBuilder& t, const std::string& name, int64_t most);

// InAccesses after PadForItems.
template <typename D>
std::string InAccessesPadded(ScheduleBuilder& t, const std::string& name, int64_t most) {
  return PadForItems(t, name, most) ? InAccesses<D>(t, name) : name;
}

// The axes of each reduce that are loops.
std::vector<loop_nest::AxisList> AxesByReduce(const ScheduleBuilder& t);

// Upcasts the axes of few results outside of the last one, along which everything that varies along
// the last one is repeated: a matrix that is multiplied by a few rows is read once for all of them.
void UpcastFewRows(ScheduleBuilder& t);

// How many elements of a load a term along an axis has, that is not split yet and along which the
// load is contiguous: fewer than one where several terms share an element, as packed nibbles.
std::optional<double> ElementsOfTerm(const ScheduleBuilder& t, const analysis::Access& a,
                                     size_t axis);

// Whether a reduce is computed again for each term of another one.
bool Nests(const ScheduleBuilder& t);

// The number of reduces of the kernel that need a loop.
size_t ReducesOf(const ScheduleBuilder& t);

// Unrolls the innermost axis of each reduce: all of a short one, as many iterations as an access
// has words of a long one. If that axis and the one around it have fewer iterations each, unrolls
// both.
void UnrollReduce(ScheduleBuilder& t);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_GPU_AXES_H_
