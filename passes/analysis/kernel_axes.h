// The axes of a kernel before any directive, and the kernel's name. The order of the axes depends
// only on the structure of the body.
#ifndef TG_PASSES_ANALYSIS_KERNEL_AXES_H_
#define TG_PASSES_ANALYSIS_KERNEL_AXES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"

namespace tg::analysis {

// One axis of a kernel at Stage::kKernel: an axis of the stored shape, of a reduce or of a staged
// value.
struct BaseAxis {
  // i0, i1, ... for the stored shape; r0, r1, ... for reduces; s0, s1, ... for staged values.
  std::string name;
  Dim size;
  int64_t max_size = 0;  // size, or its upper bound if it is symbolic
  int64_t min_size = 0;  // and the lower bound
  // The reduce_axis or reduce_tuple that it belongs to, or null. Several
  // reduce_tuples that combine one tuple are represented by FirstOfTuple.
  const UOp* reduce = nullptr;
  // The staged value that it belongs to, or null. A reduce_tuple stages its results along its inner
  // axes (InnerAxes).
  const UOp* staged = nullptr;
  size_t dim = 0;  // number of the axis of the stored shape, or of the node's source

  // Whether this is an axis of the stored shape.
  bool IsStored() const { return !reduce && !staged; }
};

// The axes of `kernel` (Stage::kKernel): the axes of the stored shape, then the axes of the reduces
// in post-order, in both cases without those of extent 1, then the axes of staged values that
// StagedAxes finds. All stores of a kernel have the same shape. `order`: the nodes of the body,
// sources first.
std::vector<BaseAxis> BaseAxes(const Module& module, const Kernel& kernel, ShapeMap& shapes,
                               UOpSpan order);

// The greatest value of an expression of the module's variables, such as a symbolic extent.
int64_t MaxOf(const Module& module, const Context& ctx, const UOp* symbol);
int64_t MinOf(const Module& module, const Context& ctx, const UOp* symbol);
inline int64_t MaxExtent(const Module& module, const Context& ctx, const Dim& size) {
  return size.is_symbolic() ? MaxOf(module, ctx, size.symbol()) : size.value();
}

// The kind of an axis before any directive: reduce, stage, or global for the stored shape.
AxisKind KindOf(const BaseAxis& base);

// The same axes in the form that a kernel's header stores; a symbolic size is its upper bound.
std::vector<Axis> ToAxes(const std::vector<BaseAxis>& base);

// A name such as "r_4_8": "r" if the kernel has an axis of a reduce, else "E", followed by the
// sizes of its axes in order, or by 1 if it has none. The name is not unique: see UniqueKernelName.
std::string KernelName(const std::vector<Axis>& axes);
// Returns `name` if it is not in `taken`. Otherwise appends a hash of `content`, so that the result
// does not depend on how many kernels have this name.
std::string UniqueKernelName(const std::string& name, std::string_view content,
                             const std::set<std::string>& taken);
// Gives kernels new names, in their headers and in the graphs that run them.
void RenameKernels(Module& module, const std::map<std::string, std::string>& names);

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_KERNEL_AXES_H_
