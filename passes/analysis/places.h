// Where the stores of a kernel at Stage::kKernel read each of its values, in terms of its axes.
#ifndef TG_PASSES_ANALYSIS_PLACES_H_
#define TG_PASSES_ANALYSIS_PLACES_H_

#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/loop_sets.h"

namespace tg {

// An axis of what `staged` node `node` keeps: it is gone through when the value is made, before it
// is read.
struct StagedAxis {
  const UOp* node = nullptr;
  size_t dim = 0;
};

// Those of a body, whose stored and reduced axes are `axes`, sources first. A staged value has room
// for all of its axes but those that the stores go through in step (IsCountedAlike). `order`: what
// the body's sink reaches, sources first.
std::vector<StagedAxis> StagedAxes(UOpSpan order, const std::vector<BaseAxis>& axes,
                                   ShapeMap& shapes);

// A staged value that has no axis of its own, and the stored axes that it is made anew for.
struct StagedInStep {
  const UOp* node = nullptr;
  LoopSet varies = 0;
};

struct Dependence {
  // By axis of a kernel: for an axis of a reduce, the axes that the reduce's result varies over
  // (bit i: axis i); for one of a staged value, the stored axes that it is made anew for; for the
  // others 0. Work that does not vary over an axis is done once for all of it, if the axis is a
  // loop or its work-items share the work.
  std::vector<LoopSet> varies;
  std::vector<StagedInStep> in_step;
};
// Of `axes`, all those of a kernel.
Dependence FindDependence(UOpSpan order, const std::vector<BaseAxis>& axes, ShapeMap& shapes);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_PLACES_H_
