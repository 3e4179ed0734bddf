// For a kernel at Stage::kKernel: which axes each value is read along, from the kernel's stores.
#ifndef TG_PASSES_ANALYSIS_DEPENDENCE_H_
#define TG_PASSES_ANALYSIS_DEPENDENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/loop_sets.h"

namespace tg {

// Axis `dim` of the value that `staged` node `node` caches. A loop over it computes the value
// before it is read.
struct StagedAxis {
  const UOp* node = nullptr;
  size_t dim = 0;
};

// All staged axes of a body whose stored and reduced axes are `axes`, sources first. The buffer of
// a staged value has all axes of the value except the axes that the stores traverse in the same
// order (IsCountedAlike). `order`: the nodes that the body's sink reaches, sources first.
std::vector<StagedAxis> StagedAxes(UOpSpan order, const std::vector<BaseAxis>& axes,
                                   ShapeMap& shapes);

// A `packed` value: a name for directives, and the axes that its index and predicate vary along.
struct PackedValue {
  const UOp* node = nullptr;
  LoopSet varies = 0;
  std::string at;         // the axis in each step of which it is packed; empty: it is not
  bool is_local = false;  // in local memory, where the work-items of a group copy it together
  int64_t buffers = 1;    // of consecutive steps
  bool ahead = false;     // each step loads the elements of the next one before it computes
};

struct Dependence {
  // By axis of a kernel. For an axis of a reduce: the axes that the reduce's result varies along
  // (bit i: axis i). For an axis of a staged value: the stored axes along which the value is
  // recomputed. For other axes: 0. Work that is invariant along an axis is done once for the whole
  // axis, if the axis is a loop or if its work-items share the work.
  std::vector<LoopSet> varies;
  std::vector<PackedValue> packed;  // in the order of the body
  // By axis of a kernel: whether it is an axis of a reduce that is read at one index only.
  std::vector<bool> read_once;
};
// `axes`: all axes of the kernel.
Dependence FindDependence(UOpSpan order, const std::vector<BaseAxis>& axes, ShapeMap& shapes);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_DEPENDENCE_H_
