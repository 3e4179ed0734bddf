// The uses of a value. A use is a kernel that reads the value, and the mapping from that kernel's
// indices to the value's.
//
// Two uses are equal if the same kernel reads the value at the same index expressions. A use is
// represented by the chain of movement ops and reduces between the kernel's store and the value.
// Chains are normalized, so that most chains with the same mapping are equal: consecutive reshapes
// are merged, and inverse reshapes cancel.
//
// The loops of a kernel are numbered: first the axes of the stored value, then the axes of its
// reduces in the order of the walk. For each axis of the value, a use records the loops on which
// the index along it depends.
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

namespace tg::kernelize {

using UseId = uint32_t;
// A short list, since most values have one or two different uses.
using UseList = llvm::SmallVector<UseId, 2>;

class UseTable {
 public:
  UseTable(const Module& module, const Context& ctx, ShapeMap& shapes);

  // The use of the value that kernel `root` stores: each loop is the index along one axis.
  UseId Root(const UOp* root);
  // The same with split axes: `rows` is the shape after splitting (row_shape.h), or empty. If the
  // kernel was split differently before, its earlier uses become invalid.
  UseId Root(const UOp* root, const Shape& rows);
  // Given a use of movement op `u`, returns the use of its source.
  UseId Through(UseId use, const UOp* u);
  // Whether a use of pad `u` reads only the padding, which a shrink directly above the pad may
  // show.
  bool ReadsPadding(UseId use, const UOp* u) const;
  // Given a use of reduce_axis `u`, returns the use of its source, with loops for the reduced axes.
  UseId Inside(UseId use, const UOp* u);
  // The same for a reduce that needs only one of its terms (gathers.h), so that it adds no loop.
  UseId OfOneTerm(UseId use, const UOp* u);
  // Given a use that reads the staged value `u`, returns the use that computes `u` in the kernel,
  // with separate loops over `axes`.
  UseId Staged(UseId use, const UOp* u, const std::vector<int64_t>& axes);

  const UOp* KernelOf(UseId use) const { return rows_[use].kernel; }

  // For two uses of one value: whether `use` differs from `place` only by further shrinks and pads
  // that together move no element. Then it reads a subset of the elements that `place` reads, at
  // the same indices. False says nothing.
  bool IsWithin(UseId use, UseId place) const;

  // For each axis of the value: the loops on which the index along it depends.
  const std::vector<analysis::AxisLoops>& Loops(UseId use) const { return rows_[use].loops; }
  // The union of the loops of all axes.
  analysis::LoopSet Varies(UseId use) const { return rows_[use].varies; }
  // The loops in which the value is computed: those along which it varies and, if one of these
  // belongs to a reduce or to a staged value, also the loops that enclose it.
  analysis::LoopSet ComputedIn(UseId use) const;
  // The loops along the axes of the value that a kernel stores.
  analysis::LoopSet OuterLoops(const UOp* kernel) const;
  // The product of the trip counts of these loops of a kernel.
  double Iterations(const UOp* kernel, analysis::LoopSet loops) const;

 private:
  struct OwnLoop {
    const UOp* node;  // a reduce, or a value staged in the kernel
    int64_t axis;
    analysis::AxisLoops loops;
  };
  struct KernelLoops {
    size_t outer = 0;           // number of loops over the stored value
    std::vector<double> sizes;  // trip counts; the 64th is the product of all further ones
    std::vector<OwnLoop> own;
  };
  // Identifies a use by how it was derived from another use, `parent`.
  struct Key {
    UseId parent;
    uint32_t op;
    uint64_t bits;
    llvm::SmallVector<int64_t, 16> detail;
  };
  struct Row {
    const UOp* kernel;
    uint32_t loops_of;     // index into kernels_
    const Shape* outside;  // for a reshape: the shape of its result; else null
    const UOp* cut;        // for a pad or shrink: the node; else null
    std::vector<analysis::AxisLoops> loops;
    analysis::LoopSet varies = 0;
    analysis::LoopSet around = 0;  // loops around the enclosing reduces and staged values
    // The fields of the key; its detail is stored in details_.
    UseId parent = 0;
    uint32_t op = 0;
    uint64_t bits = 0;
    size_t detail = 0, detail_size = 0;
    UseId next = 0;  // next row with the same hash; 0: none
  };

  // The use `use` with new loops of node `u` over these axes of a value of shape `shape`.
  UseId WithOwnLoops(UseId use, const UOp* u, const Key& key, const Shape& shape,
                     std::span<const int64_t> axes);
  // Through, without the cache.
  UseId MapThrough(UseId use, const UOp* u);
  // The row of this key, or -1 if there is none yet. Sets *hash, which Add needs.
  int64_t Find(const Key& key, uint64_t* hash) const;
  UseId Add(uint64_t hash, const Key& key, const UOp* kernel, uint32_t loops_of,
            const Shape* outside, const UOp* cut, std::vector<analysis::AxisLoops> loops);
  analysis::AxisLoops AddLoop(KernelLoops& kernel, const Dim& size) const;
  const KernelLoops& LoopsOf(const UOp* kernel) const { return kernels_[latest_.Get(kernel)]; }

  const Module& module_;
  const Context& ctx_;
  ShapeMap& shapes_;
  std::vector<Row> rows_;
  std::vector<int64_t> details_;
  llvm::DenseMap<uint64_t, UseId> ids_;            // the first row with a hash
  llvm::DenseMap<analysis::IdPair, UseId> steps_;  // the cache of Through, by use and node
  std::vector<KernelLoops> kernels_{1};            // [0]: for nodes that are not kernels yet
  NodeMap<uint32_t> latest_;                       // by kernel: into kernels_
  NodeMap<UseId> roots_;                           // by kernel that has loops: the latest use
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_USES_H_
