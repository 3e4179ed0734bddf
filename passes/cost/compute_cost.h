// The compute term: instructions over the rate at which a device begins them.
#ifndef TG_PASSES_COST_COMPUTE_COST_H_
#define TG_PASSES_COST_COMPUTE_COST_H_

#include "passes/cost/scheduled_work.h"
#include "passes/target.h"

namespace tg {

// Instructions of a kernel in all its work-items, each as the number of multiply-adds of vectors
// (on a GPU: of work-items) that could begin in its time.
struct Instructions {
  double arithmetic = 0, loads = 0, stores = 0;
};

// Vector instructions for `lanes` elements of `type`: Target::alu_width bytes each, or one element
// if the target has no vectors.
double VectorsOf(double lanes, Scalar type, const Target& target);

// Instructions for one execution of an access: one for each run of adjacent lanes, at most
// Target::mem_width bytes each, and two for a lane alone, which is moved into or out of its vector.
double AccessInstructions(const ScheduledWork& work, const MemoryAccess& access,
                          const Target& target);

// All instructions. Additions to fewer sums than hide their latency count more.
Instructions CountInstructions(const ScheduledWork& work, const Target& target);

// Seconds in which the whole device, fully used, executes them: arithmetic and loads begin in
// parallel, and a part of the shorter of the two delays the longer.
double ComputeSeconds(const Instructions& count, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_COST_COMPUTE_COST_H_
