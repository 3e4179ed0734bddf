// Analyses of a kernel at Stage::kKernel: the axes of its staged values, and the axes along which
// each reduce, staged value and packed value varies.
#ifndef TG_PASSES_ANALYSIS_DEPENDENCE_H_
#define TG_PASSES_ANALYSIS_DEPENDENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/loop_sets.h"

namespace tg::analysis {

// An axis of the buffer of a staged value: axis `dim` of the value that `staged` node `node`
// caches. A loop along it computes all elements before they are read.
struct StagedAxis {
  const UOp* node = nullptr;
  size_t dim = 0;
};

// The axes of the buffers of all staged values, in the order of `order`. `axes`: the axes of the
// stored shape and of reduces. A buffer has all axes of its value that are not of extent 1, except
// those along which all reads use one index, which counts loops of the stored shape
// (IsCountedAlike). `order`: the nodes that the body's sink reaches, sources first.
std::vector<StagedAxis> StagedAxes(UOpSpan order, const std::vector<BaseAxis>& axes,
                                   ShapeMap& shapes);

// A `packed` value. `varies`: the axes along which the indices at which it is read vary.
struct PackedValue {
  const UOp* node = nullptr;
  LoopSet varies = 0;
};

struct Dependence {
  // By axis of a kernel, a set of axes (bit i: axis i; see LoopBit). For an axis of a reduce: the
  // axes along which the result of the reduce varies. For an axis of a staged value: the stored
  // axes along which the value is recomputed. For other axes: empty. If a value is invariant along
  // an axis, it is computed once for the whole axis, provided that the axis is a loop or that its
  // work-items share the work.
  std::vector<LoopSet> varies;
  std::vector<PackedValue> packed;  // in the order of the body's nodes
  // By axis of a kernel, for an axis of a reduce: the number of indices at which its result is
  // read. It is computed for each of them. For other axes, and those of tuples: 0.
  std::vector<uint32_t> reads;
};
// `axes`: all axes of the kernel, as BaseAxes returns them. `order`: as in StagedAxes.
Dependence FindDependence(UOpSpan order, const std::vector<BaseAxis>& axes, ShapeMap& shapes);

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_DEPENDENCE_H_
