// Splits kernels whose parts are predicted to be faster. The planner fuses by bounds of the costs
// (expression_cost.h); here whole kernels are judged as they would be scheduled, by the same
// prediction that chooses schedules.
#ifndef TG_PASSES_KERNELIZE_PREDICTED_SPLITS_H_
#define TG_PASSES_KERNELIZE_PREDICTED_SPLITS_H_

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/kernelize/materialization.h"
#include "passes/target.h"

namespace tg::kernelize {

// Returns values that a plan computes inside kernels, and that are better stored. Of each kernel
// that holds several reduces or staged values, one of these, or all staged values, are stored if
// what computes the kernel's value is then predicted to be faster by more than the prediction's
// error, and if the whole plan is. The arguments are those of PlanMaterialization.
StoredByPrediction FindPredictedSplits(const Module& module, const Body& body, ShapeMap& shapes,
                                       const passes::Target& target,
                                       const MaterializationOptions& options, const NodeSet& fused,
                                       UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_PREDICTED_SPLITS_H_
