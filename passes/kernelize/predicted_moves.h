// Changes a plan where other kernels are predicted to be faster. The planner decides by bounds of
// the costs (expression_cost.h); here whole kernels are judged as they would be scheduled, by the
// same prediction that chooses schedules.
#ifndef TG_PASSES_KERNELIZE_PREDICTED_MOVES_H_
#define TG_PASSES_KERNELIZE_PREDICTED_MOVES_H_

#include "passes/kernelize/materialization.h"
#include "passes/thread_pool.h"

namespace tg::kernelize {

// Begins with what bounds choose, and makes moves while there are some that pay. One stores a value
// that a kernel with several reduces or staged values computes inside, or all that it stages. The
// other computes a value, which bounds have stored, in the kernels that read it. A move is made if
// the kernels that it concerns are predicted to be faster by more than the prediction's error, and
// the plan that follows from it is faster too. `workers`: threads that predict several kernels at a
// time; null: this one.
FusionChoices FindPredictedMoves(const PlannedGraph& graph, passes::ThreadPool* workers);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_PREDICTED_MOVES_H_
