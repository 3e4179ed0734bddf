// How a value is used: in which kernel, and through which mapping of indices.
//
// Two uses are one where the same kernel reads the value at the same index expressions. A use is
// kept as the chain of movement ops and reduces between the kernel's store and the value,
// normalised so that chains that obviously map alike are equal: reshapes collapse and cancel.
//
// The loops of a kernel are numbered: the axes of what it stores, then those of its reduces as they
// are met. A use knows, for each axis of the value, the loops that its index depends on.
#ifndef TG_PASSES_KERNELIZE_USES_H_
#define TG_PASSES_KERNELIZE_USES_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/loop_sets.h"

namespace tg {

using UseId = uint32_t;

class UseTable {
 public:
  UseTable(const Module& module, const Context& ctx, ShapeMap& shapes)
      : module_(module), ctx_(ctx), shapes_(shapes) {}

  void Clear();

  // The use of what kernel `root` stores, element by element. `rows`: its shape, perhaps with axes
  // cut (row_shape.h); it counts in the first call for a root.
  UseId Root(const UOp* root, const Shape& rows = {});
  // The use of movement op `u`'s source by a use of `u`.
  UseId Through(UseId use, const UOp* u);
  // The use of reduce_axis `u`'s source by a use of `u`.
  UseId Inside(UseId use, const UOp* u);

  const UOp* KernelOf(UseId use) const { return rows_[use].kernel; }

  // By axis of the value.
  const std::vector<AxisLoops>& Loops(UseId use) const { return rows_[use].loops; }
  // The loops over what a kernel stores.
  LoopSet OuterLoops(const UOp* kernel) const;
  // The product of the sizes of these loops of a kernel.
  double Iterations(const UOp* kernel, LoopSet loops) const;

 private:
  struct Row {
    const UOp* kernel;
    UseId parent;
    bool reshape;
    Shape outside;  // of a reshape: the shape on the consumer's side
    std::vector<AxisLoops> loops;
    // What makes it this row and no other: how it follows from `parent`.
    uint32_t op = 0;
    uint64_t bits = 0;
    llvm::SmallVector<int64_t, 12> detail;
  };
  struct KernelLoops {
    size_t outer = 0;           // of what is stored
    std::vector<double> sizes;  // at most 64; the last of 64 stands for all that follow
  };

  using Detail = llvm::SmallVector<int64_t, 12>;

  // The row that follows from `parent` in this way; -1 where there is none yet, *hash for Add.
  int64_t Find(UseId parent, uint32_t op, uint64_t bits, const Detail& detail,
               uint64_t* hash) const;
  UseId Add(uint64_t hash, Row row);
  AxisLoops AddLoop(const UOp* kernel, const Dim& size);

  const Module& module_;
  const Context& ctx_;
  ShapeMap& shapes_;
  std::vector<Row> rows_;
  std::unordered_multimap<uint64_t, UseId> ids_;  // by hash
  NodeMap<KernelLoops> loops_;                    // by kernel
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, AxisLoops>
      reduce_loops_;  // kernel, reduce, axis
};

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_USES_H_
