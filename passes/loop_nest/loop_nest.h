// LoopNest: how a kernel runs. Its loops in order, each bound to groups, work-items, lanes or
// steps; what is copied or staged, where; and each original axis as a combination of loops. `lower`
// reads nothing else besides the body.
//
// Loops are named, never numbered. `split(i0, 4)` replaces i0 by i0.0 (outer) and i0.1 (inner, size
// 4). A directive with an amount, such as `upcast(i0, 4)`, splits and then binds the inner loop
// (`grouptop`: the outer one). Without an amount, or if the amount is the loop's size, it binds the
// whole loop, which keeps its name.
#ifndef TG_PASSES_LOOP_NEST_LOOP_NEST_H_
#define TG_PASSES_LOOP_NEST_LOOP_NEST_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ir/kernel_calls.h"
#include "ir/matrix/matrix_instruction.h"
#include "ir/module.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/dependence.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/loop_sets.h"
#include "passes/target.h"

namespace tg::loop_nest {

// What executes the steps of a loop. Bind replaces it as a whole.
struct Binding {
  AxisKind kind = AxisKind::kGlobal;
  int grid_dim = -1;       // of the grid or the group, set by directives `grid` and `neighbours`
  bool goes_down = false;  // whether the first of the grid's dimension is the axis's last step
  std::string shares;      // for a group axis: the local or group axis whose work-items it reuses
  // For such an axis: each work-item keeps its own part of what is staged, which no other reads, in
  // private memory; parts of a reduce are combined by shuffles.
  bool owned = false;

  // Whether the steps are executed by work-items that no other axis gives to the group.
  bool HasItems() const {
    return kind == AxisKind::kLocal || (kind == AxisKind::kGroup && shares.empty());
  }
  // Whether work-items exchange what they compute in the steps through local memory.
  bool Exchanges() const { return kind == AxisKind::kGroup && !owned; }
};

struct LoopAxis : Binding {
  std::string name;
  // The steps; or, if that is symbolic, the steps of the base axis, which LoopNest::maps[base]
  // divides into blocks.
  Dim size;
  int64_t max_size = 0;  // the most steps
  size_t base = 0;       // the axis in LoopNest::base that it is a part of
};

// A part of a base axis.
struct Digit {
  size_t axis = 0;
  int64_t stride = 1;
};

// Which steps of its digits a base axis has.
enum class Domain : uint8_t {
  kAll,     // each once
  kBelow,   // those below its size: the others are padding, which is guarded
  kShifted  // all; the last block ends where the axis ends, so that it repeats some steps
};

// How loops count along a base axis. Its index is the sum of `axes[axis] * stride` over the digits,
// the outermost one first.
struct AxisMap {
  llvm::SmallVector<Digit, 3> digits;
  Domain domain = Domain::kAll;
  // Where the digits have more steps than the axis, they are those of whole blocks of this size.
  int64_t block = 1;

  bool IsPadded() const { return domain == Domain::kBelow; }
  bool Overlaps() const { return domain == Domain::kShifted; }
  bool IsWhole() const { return digits.size() == 1; }
  // The steps that each block has along the outermost digit.
  int64_t OuterStepsOfBlock() const { return block / digits.front().stride; }
};

// A copy of what is read of a packed value in a step of a loop.
struct Copy : analysis::PackedValue {
  size_t number = 0;      // of the value, in LoopNest::packed
  std::string at;         // the axis in whose steps it is made
  bool is_local = false;  // in local memory, where the work-items of a group make it together
  int64_t buffers = 1;    // number of copies at which consecutive steps take turns
  bool ahead = false;     // each step loads elements of a later one before it computes
};

// Axes, by name, that matrix instructions compute. A subgroup of 32 work-items computes 16 x 8
// results. A work-item has those in row i, in row i + 8, and in two neighbouring columns. Several
// sums of a kernel have the same rows and work-items; their columns may be of staged values, of
// which each work-item then owns its part (LoopAxis::owned).
struct MatrixAxes {
  static constexpr int64_t kRows = 16, kColumns = 8;
  MatrixInstruction instruction;
  const UOp* reduce = nullptr;
  std::string row;          // upcast: the first or second eight rows
  std::string row_lane;     // local: of eight rows
  std::string column_lane;  // local: of four pairs of columns
  std::string column;       // upcast: of a pair
  std::string term;         // reduce
  // Of warpgroups only: the subgroups, each with 16 rows, and groups of eight columns, the
  // outermost axis first.
  std::string unit;                  // local
  std::vector<std::string> columns;  // upcast

  bool IsWarpgroup() const { return instruction.is_warpgroup; }
};

// Positions in LoopNest::axes.
using AxisList = llvm::SmallVector<size_t, 8>;

// What directives change.
struct Loops {
  std::vector<LoopAxis> axes;  // in the order of the kernel's name
  std::vector<AxisMap> maps;   // by base axis
  std::vector<Copy> copies;    // by number, one of a value at most
  // The base axis that `stage_in_output` names. It is an axis of the staged value that the output
  // holds until the results replace it.
  std::optional<size_t> in_output;
  std::vector<MatrixAxes> matrices;  // the axes of matrix instructions, by sum
};

struct LoopNest : Loops {
  // ---- What the body determines.
  std::vector<analysis::BaseAxis> base;
  std::vector<analysis::LoopSet> varies;  // by base axis: Dependence
  std::vector<analysis::PackedValue> packed;
  // By base axis: whether it is an axis of a reduce whose partial results can be kept in what the
  // kernel stores, so that a part of the axis may be a loop around the results.
  std::vector<bool> accumulates;
  std::vector<uint32_t> reads;                    // by base axis: Dependence
  std::vector<analysis::LoopSet> held_by_output;  // by base axis: FindOutputStaging
  std::vector<int64_t> read;                      // the arguments that the kernel reads
  std::vector<int64_t> written;                   // the arguments that the kernel writes
  const KernelCalls* calls = nullptr;
  ModuleFlags flags;   // the module's
  std::string kernel;  // the kernel's name
  size_t stores = 1;

  // Whether the kernel may read memory that it also writes: an argument is both read and written,
  // or some call passes the buffer of a written argument as another argument too.
  bool IsInPlace() const {
    if (!in_place_) in_place_ = FindInPlace();
    return *in_place_;
  }
  // Whether work-items along the axis of this name are numbered by matrix instructions.
  bool IsMatrixLane(std::string_view name) const;
  // Whether the axis of this name is that of the subgroups of a warpgroup.
  bool IsMatrixUnit(std::string_view name) const {
    return !matrices.empty() && matrices[0].IsWarpgroup() && matrices[0].unit == name;
  }
  // The axes of a reduce or a staged value, as positions in `axes`.
  AxisList AxesOf(const UOp* node) const;
  // The stored base axes along which a staged value is recomputed; 0 if it has no axes in `base`.
  analysis::LoopSet VariesOf(const UOp* staged) const;
  std::vector<Axis> ToAxes() const;
  int64_t GroupSize() const;  // work-items per group: the product of local and group axes
  // The product of upcast and vector axes: unrolled terms do not count.
  int64_t UpcastSize() const;
  // Bytes of all staged values, each with the extents of its axes in `base`, without the axes along
  // which it is recomputed.
  int64_t StagedBytes() const;
  // Bytes of local memory of a group: for partial results of reduces, shared staged values and
  // packed values.
  int64_t LocalBytes() const;
  // Whether `axis` lies inside the loop of the axis at `at`, within one work-item.
  bool IsInside(size_t axis, size_t at) const;
  // Whether a copy has elements along this axis.
  bool IsCopied(const Copy& copy, size_t axis) const;
  // Bytes of copies in a work-item's private memory, or in the group's local memory.
  int64_t PackedBytes(bool in_local_memory = false) const;
  // Bytes that may be left unused after each row of a copy in local memory, so that the elements of
  // a column, which are stored at the same time, are not all in one bank. A row has the elements
  // for one term of a reduce.
  static constexpr int64_t kRowPadding = 16;
  // Whether the axis at this position is a loop over blocks of a reduce's terms, around the loops
  // over results.
  bool IsReduceLoop(size_t axis) const {
    return axes[axis].kind == AxisKind::kLoop && base[axes[axis].base].reduce != nullptr;
  }
  // The base axes of results that are padded.
  AxisList PaddedResults() const;
  // Whether the reduce of a base axis is part of no other reduce or staged value.
  bool IsOutermost(size_t base_axis) const;
  // Position in `axes`; -1 if no axis has that name.
  int FindAxis(std::string_view name) const;
  // Position in `axes` of the axis of that name, which must exist.
  size_t AxisNamed(std::string_view name) const;

  // ---- Changes of loops.
  // Replaces the axis by an outer one of `outer` steps and, directly behind it in `axes`, an inner
  // one of `inner` steps.
  void Split(size_t axis, int64_t outer, int64_t inner);
  // Binds an axis: moves it behind all axes of its new kind and of the kinds that come earlier in
  // the kernel's name (Rank in edit.cc). Returns its new position.
  size_t Bind(size_t axis, Binding binding);
  // Gives each axis a new position: that at position i goes to `to[i]`.
  void Permute(const AxisList& to);

  // What holds for any nest that can run on `target`: a grid and a group have at most three
  // dimensions, groups and copies fit, no argument is read after it may be overwritten, and what is
  // kept in the output or shared by work-items is complete when it is read. The error has the
  // reason.
  absl::Status Check(const passes::Target& target) const;

 private:
  bool FindInPlace() const;
  int64_t CopyBytes(const Copy& copy) const;
  mutable std::optional<bool> in_place_;
};

// The nest of a kernel's body (Stage::kKernel) before directives: each axis is a loop. It refers to
// nodes of the body and to `calls`.
LoopNest PlainLoopNest(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                       ShapeMap& shapes);

// The nest as indented loops with their bindings, and what is copied at which loop.
std::string PrintLoopNest(const LoopNest& nest);

}  // namespace tg::loop_nest

#endif  // TG_PASSES_LOOP_NEST_LOOP_NEST_H_
