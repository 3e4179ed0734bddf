// The uses of a value: the kernel, and the mapping from the kernel's indices to the value's.
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
#include <span>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/uop.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/id_pair.h"
#include "passes/analysis/loop_sets.h"

namespace tg {

using UseId = uint32_t;
// Most values are used in one way or two.
using UseList = llvm::SmallVector<UseId, 2>;

class UseTable {
 public:
  UseTable(const Module& module, const Context& ctx, ShapeMap& shapes);

  // The use of what kernel `root` stores, element by element.
  UseId Root(const UOp* root);
  // The same with axes cut: `rows` is its shape then (row_shape.h), or empty. The uses in a kernel
  // that was cut in another way before are others, of which nobody may ask any more.
  UseId Root(const UOp* root, const Shape& rows);
  // The use of movement op `u`'s source by a use of `u`.
  UseId Through(UseId use, const UOp* u);
  // Whether a use of pad `u` reads nothing but its padding, as the shrink next to it shows.
  bool ReadsPadding(UseId use, const UOp* u) const;
  // The use of reduce_axis `u`'s source by a use of `u`.
  UseId Inside(UseId use, const UOp* u);
  // The same of a reduce that needs one of its terms (gathers.h): there is no loop over them.
  UseId OfOneTerm(UseId use, const UOp* u);
  // The use that computes the staged value `u` inside the kernel, with separate loops over `axes`;
  // `use` is a use that reads it.
  UseId Staged(UseId use, const UOp* u, const std::vector<int64_t>& axes);

  const UOp* KernelOf(UseId use) const { return rows_[use].kernel; }

  // Of two uses of one value, whether `use` reads nothing but what `place` does at the same
  // indices: they differ by shrinks and pads that move nothing, which leave gaps at most.
  bool IsWithin(UseId use, UseId place) const;

  // By axis of the value.
  const std::vector<AxisLoops>& Loops(UseId use) const { return rows_[use].loops; }
  // The union of these.
  LoopSet Varies(UseId use) const { return rows_[use].varies; }
  // The loops in which the value is computed: with one over a reduce's terms, or over what fills
  // memory of the kernel, come those around it.
  LoopSet ComputedIn(UseId use) const;
  // The loops over what a kernel stores.
  LoopSet OuterLoops(const UOp* kernel) const;
  // The product of the sizes of these loops of a kernel.
  double Iterations(const UOp* kernel, LoopSet loops) const;

 private:
  struct OwnLoop {
    const UOp* node;  // a reduce, or what is kept inside the kernel
    int64_t axis;
    AxisLoops loops;
  };
  struct KernelLoops {
    size_t outer = 0;           // of what is stored
    std::vector<double> sizes;  // at most 64; the last of 64 covers all further loops
    std::vector<OwnLoop> own;
  };
  // What makes a use this one and no other: how it follows from `parent`.
  struct Key {
    UseId parent;
    uint32_t op;
    uint64_t bits;
    llvm::SmallVector<int64_t, 16> detail;
  };
  struct Row {
    const UOp* kernel;
    uint32_t loops_of;     // of `kernel`: into kernels_
    const Shape* outside;  // of a reshape: the shape on the consumer's side; else null
    const UOp* cut;        // a pad or shrink; else null
    std::vector<AxisLoops> loops;
    LoopSet varies = 0;
    LoopSet around = 0;  // the loops around the reduces and fillings that it is in
    // The key, its detail being a part of details_.
    UseId parent = 0;
    uint32_t op = 0;
    uint64_t bits = 0;
    size_t detail = 0, detail_size = 0;
    UseId next = 0;  // with the same hash; 0: none
  };

  // `use` with node `u`'s own loops over these axes of a value of shape `shape`.
  UseId WithOwnLoops(UseId use, const UOp* u, const Key& key, const Shape& shape,
                     std::span<const int64_t> axes);
  // Through, without looking whether it was asked before.
  UseId MapThrough(UseId use, const UOp* u);
  // The row of this key; -1 where there is none yet, *hash for Add.
  int64_t Find(const Key& key, uint64_t* hash) const;
  UseId Add(uint64_t hash, const Key& key, const UOp* kernel, uint32_t loops_of,
            const Shape* outside, const UOp* cut, std::vector<AxisLoops> loops);
  AxisLoops AddLoop(KernelLoops& kernel, const Dim& size) const;
  const KernelLoops& LoopsOf(const UOp* kernel) const { return kernels_[latest_.Get(kernel)]; }

  const Module& module_;
  const Context& ctx_;
  ShapeMap& shapes_;
  std::vector<Row> rows_;
  std::vector<int64_t> details_;
  llvm::DenseMap<uint64_t, UseId> ids_;  // the first row with a hash
  llvm::DenseMap<IdPair, UseId> steps_;  // by use and node: what Through found
  std::vector<KernelLoops> kernels_{1};  // [0]: of what is no kernel yet
  NodeMap<uint32_t> latest_;             // by kernel: into kernels_
  NodeMap<UseId> roots_;                 // by kernel that has loops: the latest use
};

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_USES_H_
