// The compute term: instructions over the rate at which a device begins them.
#ifndef TG_PASSES_COST_COMPUTE_COST_H_
#define TG_PASSES_COST_COMPUTE_COST_H_

#include "passes/cost/scheduled_work.h"
#include "passes/target.h"

namespace tg::cost {

// Instructions of a kernel in all its work-items, each as the number of multiply-adds of vectors
// (on a GPU: of work-items) that could begin in its time.
struct Instructions {
  double arithmetic = 0, loads = 0, stores = 0;
};

// Vector instructions for `lanes` elements of `type`: Target::alu_width bytes each, or one element
// if the target has no vectors.
double VectorsOf(double lanes, Scalar type, const passes::Target& target);

// How one execution of an access is written: its instructions, and the adjacent elements that each
// moves.
struct AccessForm {
  double instructions = 1, elements = 1;
};
AccessForm FormOf(const ScheduledWork& work, const MemoryAccess& access,
                  const passes::Target& target);

// The same of one fill of a copy in local memory (MemoryAccess::around_copy), in all work-items of
// the group, and the elements: all of them, and those of each run without gaps.
struct FillForm {
  double instructions = 1, elements = 1, run = 1;
};
FillForm FillOf(const ScheduledWork& work, const MemoryAccess& access,
                const passes::Target& target);

// Instructions for one execution of an access. Without lanes: one. With lanes: one for each run of
// adjacent lanes of at most Target::mem_width bytes, and two for each lane that has no neighbour,
// since its element is moved into or out of a vector. A broadcast takes one for each element. A
// gate adds one to each of these accesses; if it differs between the lanes of a vector, that is
// accessed in parts, which are joined. Square blocks of vectors whose lanes are strided are
// transposed in registers, by a shuffle of each vector for each doubling of its lanes.
double AccessInstructions(const ScheduledWork& work, const MemoryAccess& access,
                          const passes::Target& target);

// The instructions of a part of the work. Additions to fewer sums than hide their latency count
// more.
Instructions CountInstructions(const ScheduledWork& work, const passes::Target& target,
                               Part part = Part::kAll);

// Seconds in which the whole device, fully used, executes a part of the work. Arithmetic, loads and
// stores of one loop's body begin in parallel: only the greater of loads and stores counts, and
// Target::not_hidden of the lesser of it and the arithmetic delays the greater. A core executes one
// loop after the other; a unit that interleaves work-items executes all at the same time.
double ComputeSeconds(const ScheduledWork& work, const passes::Target& target,
                      Part part = Part::kAll);

}  // namespace tg::cost

#endif  // TG_PASSES_COST_COMPUTE_COST_H_
