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

// Instructions for one execution of an access. Without lanes: one. With lanes: one for each run of
// adjacent lanes of at most Target::mem_width bytes, and two for each lane that has no neighbour,
// since its element is moved into or out of a vector. A broadcast takes one for each element. A
// gate adds one to each of these accesses.
double AccessInstructions(const ScheduledWork& work, const MemoryAccess& access,
                          const passes::Target& target);

// All instructions. Additions to fewer sums than hide their latency count more.
Instructions CountInstructions(const ScheduledWork& work, const passes::Target& target);

// Seconds in which the whole device, fully used, executes them: arithmetic, loads and stores
// begin in parallel. Only the greater of loads and stores counts, and an eighth of the lesser of it
// and the arithmetic delays the greater.
double ComputeSeconds(const Instructions& count, const passes::Target& target);

}  // namespace tg::cost

#endif  // TG_PASSES_COST_COMPUTE_COST_H_
