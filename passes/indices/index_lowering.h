// Lowers a kernel's body: each stored element becomes an expression over loads, by mapping indices
// from the stores through movement ops down to the kernel's arguments.
#ifndef TG_PASSES_INDICES_INDEX_LOWERING_H_
#define TG_PASSES_INDICES_INDEX_LOWERING_H_

#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/arithmetic.h"
#include "ir/builder.h"
#include "ir/free_leaves.h"
#include "ir/shape.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/id_pair.h"
#include "passes/analysis/indexing.h"
#include "passes/indices/assign_loops.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::indices {

class IndexLowering {
 public:
  // New nodes are created in the body's context.
  IndexLowering(const Module& module, Body& body, const loop_nest::LoopNest& nest,
                const Coordinates& where, ShapeMap& shapes, const passes::Target& target,
                analysis::SimplifyFn simplify);

  // Returns the sink of the lowered body. `clamped`: results in the padding of a symbolic axis are
  // computed from the axis's last element, so that each coordinate is below the axis's extent and
  // quotients by extents can be simplified. May be called once.
  absl::StatusOr<const UOp*> Run(bool clamped = false);
  // Whether Run(clamped = true) makes a difference.
  bool CanClamp() const;

  // The reduces that were computed without a loop at every position where they are read.
  std::vector<const UOp*> FoldedReduces() const;

 private:
  using PositionId = uint32_t;
  // A node of the body before lowering, together with a position of one of its elements.
  struct Key {
    const UOp* node;
    PositionId at;
    friend bool operator==(const Key&, const Key&) = default;
    // Two forms of the key, for llvm::DenseMap and for std::unordered_map.
    analysis::IdPair ids() const { return {node->id, at}; }
    uint64_t bits() const { return uint64_t{node->id} << 32 | at; }
  };
  // The result of mapping one position of a movement op to its source.
  struct MovedFrom {
    PositionId source;
    const UOp* clause;  // the predicate that the op adds; null: none
  };
  // How one reduce is computed at one position.
  struct ReduceAt {
    PositionId source;
    const UOp* valid = nullptr;       // predicate: false in the padding of its axes
    const UOp* first_time = nullptr;  // predicate: false where its axes repeat a term
    std::vector<const UOp*> unrolls, ranges, specials;
    bool is_whole = false;  // every axis is a single range
    // For each base axis: its position in LoopNest::base, and the nodes that directives split it
    // into. These nodes are also in the lists above.
    std::vector<std::pair<size_t, std::vector<const UOp*>>> parts;
  };

  // The memory and loops of a staged value, for one index of the axes that its buffer lacks.
  struct StagedAt {
    PositionId source;
    std::vector<const UOp*> unrolls, ranges, specials;
    const UOp* guard = nullptr;   // predicate: false for padding of its axes
    const UOp* valid = nullptr;   // predicate of its source
    const UOp* memory = nullptr;  // the `stage`, or the output after it was stored there
  };

  // How one tuple is combined, for one index of the axes that are not its own.
  struct TupleAt {
    PositionId source;
    const UOp* valid = nullptr;              // predicate: false in the padding of its axes
    std::vector<const UOp*> terms;           // ranges
    std::vector<const UOp*> inner, unrolls;  // of its inner axes: ranges, unroll nodes
    std::vector<size_t> own;                 // its inner axes, as positions in LoopNest::base
    // For each number of the tuple: its memory after the last term, the lanes other than `unrolls`
    // along which it varies, and whether it has an element for each index along the inner axes.
    struct Number {
      const UOp* memory = nullptr;
      std::vector<const UOp*> lanes;
      bool is_inner = false;
    };
    std::vector<Number> numbers;
  };
  // The copy of a packed value that is read at one position.
  struct PackedAt {
    // An axis of the copy: its size, the index along it while the copy is filled, and the index
    // along it where it is read.
    struct Axis {
      int64_t size;
      const UOp *filled, *read;
      size_t base = 0;  // in local memory: the base axis that it is a part of
    };
    PositionId source;  // where its elements are computed
    std::vector<const UOp*> unrolls, ranges;
    std::vector<Axis> axes;       // the outermost first
    const UOp* memory = nullptr;  // the `stage`
    // For copies in local memory: the loop in whose iterations the copy is filled, and the number
    // of axes before those of one row.
    const UOp* step = nullptr;
    size_t row = 0;
    // Whether the copy holds zeros where the predicate of the position is false.
    bool has_zeros = true;
    int64_t SizeFrom(size_t first) const {
      int64_t n = 1;
      for (size_t k = first; k < axes.size(); ++k) n = SaturatingMul(n, axes[k].size);
      return n;
    }
  };
  // The coordinate of an axis that lies inside the loop in which a value is packed.
  struct Inside {
    size_t axis;  // position in LoopNest::axes
    const UOp* leaf;
  };
  struct Window;

  PositionId Intern(analysis::Position p);
  const UOp* Lower(const UOp* u, PositionId at);
  // The lowered value of `key`. If other keys must be lowered first, returns null and adds them to
  // `missing`. The functions Step... work in the same way.
  const UOp* Step(const Key& key, std::vector<Key>& missing);
  const UOp* StepMovement(const Key& key, std::vector<Key>& missing);
  const UOp* StepReduce(const Key& key, std::vector<Key>& missing);
  // `x` reduced over the ranges by algebra, without a loop over them
  // (passes/simplify/closed_reduce.h). Null if it needs one. Loops and memory inside x stay as they
  // are.
  const UOp* Fold(Op op, const UOp* x, const std::vector<const UOp*>& ranges);
  // The sum of products over the terms of matrix instructions (LoopNest::matrices), for one result
  // of a work-item. The terms' axis leaves `plan`. Null if `x` is no product of what they take.
  const UOp* MatrixTerms(const UOp* reduce, const UOp* x, ReduceAt& plan);
  // The same of a warpgroup's instruction, whose factors stay in local memory (warpgroup.cc).
  // `term`: the range of its terms. Null too if the copies do not lie as it reads them.
  const UOp* WarpgroupTerms(const loop_nest::MatrixAxes& m, const UOp* left, const UOp* right,
                            const UOp* term, ReduceAt& plan);
  // Puts the axes of a copy in an order that such an instruction reads; `stride`: of its source.
  void OrderForWarpgroup(PackedAt& plan, const loop_nest::Copy& copy,
                         llvm::function_ref<int64_t(const PackedAt::Axis&)> stride) const;
  // Whether `x` is an element of a staged value of which work-items own pairs of neighbours.
  bool OwnsPairs(const UOp* x) const;
  // `sum` + `x`, with `sum` where the chain of matrix instructions that gave `x` begins with 0;
  // null if `x` is no result of one.
  const UOp* Accumulated(const UOp* sum, const UOp* x);
  // Which of a work-item's results of a matrix instruction is that of its row and column.
  const UOp* ResultNumber(const UOp* row, const UOp* column);
  // The sum of the matrix instruction over unrolled terms: each adds to the one before.
  const UOp* Chained(const UOp* product, const std::vector<const UOp*>& unrolls);
  // Removes the axes along which `x` is invariant from `plan`, and returns a range for each.
  // Reducing the result of the remaining plan over these ranges gives the whole reduce; algebra
  // does that without a loop.
  std::vector<const UOp*> HoistInvariantAxes(Op op, const UOp* x, ReduceAt& plan);
  // Whether all terms of a reduce are `x`, and combining them gives x again.
  bool IsOneTerm(Op op, const UOp* x, const ReduceAt& plan);
  // Whether unrolled terms are combined in each iteration, although there are enough registers to
  // keep them separate until after the loop. True if a loop inside computes the terms and needs
  // these registers.
  bool CombinesFirst(const UOp* x, const ReduceAt& plan);
  const ReduceAt& PlanReduce(const Key& key);
  // A load of one number of a combined tuple. The first call for the tuple also emits the loop over
  // its terms.
  const UOp* StepTuple(const Key& key, std::vector<Key>& missing);
  TupleAt& PlanTuple(const Key& key);
  // Emits the accumulators of all numbers and the loop that combines the lowered values `x`.
  void EmitTuple(const UOp* u, TupleAt& plan, std::vector<const UOp*> x);
  // If all values are the identities from some term on, as those of keys behind a query are: ends
  // the loop over terms before.
  void SkipLastTerms(const UOp* u, TupleAt& plan, std::vector<const UOp*>& x);
  // Computes the other numbers of a block relative to the greatest first number so far, `before`
  // included, if they are relative to their own (running_tuple.h).
  bool RunWithMaximum(const UOp* u, const TupleAt& plan, const UOp* before,
                      std::vector<const UOp*>& x);
  // The element of the memory of one number, for an index along the inner axes.
  const UOp* ElementOf(const TupleAt& plan, const TupleAt::Number& number,
                       const std::vector<const UOp*>& index);
  // If the terms of this reduce are the elements of the value that is staged in the output: how
  // that value is computed, so that one loop both stores and reduces it. Otherwise null.
  const StagedAt* FilledAlong(const Key& key, const ReduceAt& plan);
  // The conjunction of `valid` and bounds checks of `index` against `shape`. Checks that always
  // hold are left out.
  const UOp* InShape(const std::vector<const UOp*>& index, const Shape& shape, const UOp* valid);
  // The predicate for the terms of a reduce whose result is read at `at`. If work-items share the
  // reduce, drops the predicates that depend on a single one of them, since the others need the
  // terms too.
  const UOp* ForWholeGroup(const UOp* reduce, const analysis::Position& at);
  // A load of a staged value. The first call also emits the computation.
  const UOp* StepStaged(const Key& key, std::vector<Key>& missing);
  // A part of a staged value's element number of which each work-item owns one (LoopAxis::owned):
  // that with number / stride % size == item.
  struct OwnedPart {
    int64_t stride, size;
    const UOp* item;
  };
  // The coordinates of the work-items that own parts of a reduce or a staged value.
  std::vector<const UOp*> OwnersOf(const UOp* node) const;
  // The parts of the row-major element number along the base axes `own`, by descending stride.
  std::vector<OwnedPart> OwnedParts(const std::vector<size_t>& own) const;
  // The number of an element among those of its owner. An error in `status_` if that is another
  // work-item than the one that runs.
  const UOp* AmongOwn(const UOp* element, const std::vector<OwnedPart>& parts);
  // The body with the memory of staged values that work-items own parts of, and all addresses in
  // it, reduced to one part.
  const UOp* KeepOwnParts(const UOp* sink);
  // Whether the staged value is kept in the output: the element at `source` is then stored where
  // the result of the same row will be.
  bool IsInOutput(const UOp* staged, const std::vector<size_t>& own, PositionId source) const;
  // Whether the buffer of a staged value has the same element of all `lanes` (unroll nodes along
  // which the value varies) next to each other. Otherwise it has the elements of one lane next to
  // each other. True for lanes of vectors, and for rows whose elements are accessed one at a time.
  bool IsInterleaved(const UOp* staged, const std::vector<const UOp*>& lanes) const;
  // `own`: the value's axes in LoopNest::base.
  StagedAt& PlanStaged(const Key& key, const std::vector<size_t>& own);
  // A load from the copy of a packed value, or the value itself if no directive packs it.
  const UOp* StepPacked(const Key& key, std::vector<Key>& missing);
  PackedAt& PlanPacked(const Key& key, size_t at);
  // Like PlanPacked, for a copy in local memory that the work-items of a group fill together.
  PackedAt& PlanLocalCopy(const Key& key, const loop_nest::Copy& copy);
  // Puts the axes of a copy that matrix instructions read in the order of the addresses that `x`,
  // an element of it, is read from.
  void OrderByAddress(PackedAt& plan, const UOp* x, const loop_nest::Copy& copy) const;
  // The row-major number of a copy's element, given which index of its axes to use:
  // PackedAt::Axis::filled or read.
  const UOp* ElementOf(const PackedAt& plan, const UOp* PackedAt::Axis::*index);
  // The axes that a local id covers, the outermost first, each with its coordinate.
  std::vector<Inside> CoordinatesIn(const UOp* special) const;
  // In the padding of clamped axes: the position of the neighbour that does not exist, with
  // predicates that it is in `shape`.
  analysis::Position Unclamped(analysis::Position at, const Shape& shape);
  // The position without the predicates that hide padded results. For a padded result any existing
  // element may be read, so the position is moved to one.
  analysis::Position WithoutPadding(analysis::Position at, const Shape& shape);
  std::vector<Window> FindWindows(const analysis::Position& at, const std::vector<Inside>& inside);
  // Whether a predicate depends on the coordinates of a window only through their sum.
  bool IsSumOf(const UOp* valid, const Window& window, const std::vector<Inside>& inside);
  // A new unrolled axis that does not belong to the schedule.
  const UOp* FreshUnroll(int64_t size);
  // The axis whose coordinate is this range or unroll node; nullopt for other nodes.
  std::optional<size_t> AxisOfLeaf(const UOp* leaf) const;
  // Predicates: all loops over blocks of a reduce's terms are in their first iteration; all are in
  // their last one.
  const UOp* InFirstBlock();
  const UOp* InLastBlock();
  // The address, tied to the current iteration of the loops over blocks. Accesses through it stay
  // inside these loops, even if the address and the value do not depend on them.
  const UOp* InEachBlock(const UOp* address);
  // Combines `x`, the reduce of one block of terms, with the partial result of earlier blocks,
  // which is in the output.
  const UOp* WithEarlierBlocks(Op op, const UOp* x);
  // The predicate that the coordinates along the stored axes in `axes` are in bounds.
  const UOp* InStored(analysis::LoopSet axes);
  // Rebuilt (rebuild.h), then simplified.
  const UOp* Replaced(const UOp* u, NodeMap<const UOp*>& changed);
  // The coordinates of the schedule's axes, with new ones for the axes of node `u` (a reduce or a
  // staged value), which are also added to the three lists.
  std::vector<const UOp*> OwnAxes(const UOp* u, std::vector<const UOp*>& unrolls,
                                  std::vector<const UOp*>& ranges,
                                  std::vector<const UOp*>& specials);
  // The implementation of a reduce without directives: each of its axes is a range.
  const ReduceAt& PlanWhole(const Key& key);
  // The predicate of a load or reduce at a position, without the predicates of padded axes on which
  // the indices do not depend. They are not needed: the address is in bounds in the padding too,
  // and a value loaded there is not stored and is not a term of a reduce.
  // `masked`: the same for predicates of pads, which select 0 for it there. Without them a reduce
  // that is the same for a whole row is not computed for each of its elements. They may hold
  // nowhere, so that the position is checked against `masked`, the shape that it is in.
  const UOp* ValidToRead(const analysis::Position& at, const Shape* masked = nullptr);
  // `valid` without the clauses that InLoopsOver added for loops on which `element` depends; inside
  // such a loop they hold.
  const UOp* ValidInLoops(const UOp* element, const UOp* valid);
  // The address of one element of a pointer, found by mapping its position through the movement ops
  // above an argument. `reads`: in the padding, any element of the argument may be read instead
  // (FirstRowInPadding).
  const UOp* Address(const UOp* ptr, analysis::Position at, bool reads = false);
  // The coordinate along a stored axis, and the predicate that it is in bounds.
  struct Counted {
    const UOp* coordinate;
    const UOp* guard;
  };
  Counted CountedAlong(size_t base);
  // Whether coordinates along this axis are clamped where values are computed.
  bool IsClamped(size_t base) const;
  // `valid` without the predicates of those padded axes in whose padding the element is inside the
  // buffer too, as that of a value that a shrink cuts off is.
  const UOp* WithoutReadablePadding(const UOp* element, const UOp* ptr, const UOp* valid);
  // `index` for coordinates along these base axes that are in bounds, as a function of new ranges:
  // only its bounds are of use.
  const UOp* Limited(const UOp* index, llvm::ArrayRef<size_t> bases);
  // If some rows of a tile may be beyond the end of a padded axis, and rows are not adjacent in
  // memory: reads the tile's first row instead of these rows. Their values are not stored, and a
  // load that is always in bounds needs no gate.
  void FirstRowInPadding(const UOp*& element, const UOp*& valid);
  const UOp* LowerStore(const UOp* store);
  const UOp* Find(const UOp* u, PositionId at, std::vector<Key>& missing);
  analysis::Position MapView(const UOp* u, const analysis::Position& at, const UOp** clause);
  // Whether the coordinate along this base axis needs a bounds check.
  bool NeedsGuard(size_t base) const;
  // The predicate that the axis is not empty. Null if it never is empty.
  const UOp* Nonempty(size_t base);
  // Adds to `valid` the predicate that the axis is not empty, if some `parts` of the axis
  // (PartsOfAxis) are loops and its extent is symbolic. An index that does not depend on these
  // loops is in bounds only if they run at all, but its load may be hoisted out of them.
  const UOp* InLoopsOver(size_t base, const std::vector<const UOp*>& parts, const UOp* valid);
  // The coordinates of the parts that directives split the axis into. `axis`: the coordinates of
  // the scheduled axes.
  std::vector<const UOp*> PartsOfAxis(size_t base, const std::vector<const UOp*>& axis) const;
  // The predicate that `value`, the coordinate along the axis, is in bounds.
  const UOp* Guard(const analysis::BaseAxis& base, const UOp* value);
  // Whether `v` is already 0 wherever `valid` does not hold.
  bool ZeroOutside(const UOp* v, const UOp* valid, int depth);
  // A product of which one factor is 0 outside of `valid`, with the other one 0 there too. Null if
  // `x` is none, or if a select for each product takes fewer.
  const UOp* ZeroProduct(const UOp* x, const UOp* valid);

  const Module& module_;
  Body& body_;
  const loop_nest::LoopNest& nest_;
  Coordinates where_;
  ShapeMap& shapes_;
  const passes::Target& target_;
  analysis::SimplifyFn simplify_;
  Builder b_;
  FreeLeaves free_;
  std::vector<analysis::Position> positions_;
  llvm::DenseMap<uint64_t, llvm::SmallVector<PositionId, 1>> position_ids_;  // by hash
  llvm::DenseMap<analysis::IdPair, const UOp*> values_;
  llvm::DenseMap<analysis::IdPair, MovedFrom> moved_;
  std::unordered_map<uint64_t, ReduceAt> plans_, whole_plans_;
  std::unordered_map<uint64_t, TupleAt> tuples_;   // by node and position, 0 along its own axes
  std::unordered_map<uint64_t, StagedAt> staged_;  // by node and position, 0 along staged axes
  std::vector<const UOp*> locals_;
  // The predicates that InLoopsOver added, each with the range of a loop inside which it holds.
  std::vector<std::pair<const UOp*, const UOp*>> nonempty_;
  // For reduces with a padded axis: the predicate that excludes the added terms, and the coordinate
  // that it compares.
  std::vector<std::pair<const UOp*, const UOp*>> padded_terms_;
  NodeSet of_pads_;                // the parts of predicates that movement ops add
  NodeMap<int> folded_, looped_;   // by reduce: at how many positions it has no loop, or one
  NodeMap<size_t> axis_of_range_;  // by range: 1 + the schedule's axis
  std::unordered_map<uint64_t, PackedAt> packed_;
  std::unordered_map<int64_t, std::vector<OwnedPart>> owned_;  // by number of a `stage`
  NodeMap<const UOp*> packed_valid_;      // by load from a copy: the value is 0 where this is false
  std::vector<const UOp*> block_ranges_;  // the loops over blocks of a reduce's terms
  bool clamped_ = false;                  // as given to Run
  bool masks_ = false;  // loads in vectors along a clamped axis have a gate for each element
  NodeMap<const UOp*> unclamped_;  // by clamped coordinate: the coordinate
  int64_t num_fresh_unrolls_ = 0;
  analysis::Position results_;    // the position of the current store's results
  const UOp* output_ = nullptr;   // the pointer through which results are stored
  const UOp* partial_ = nullptr;  // address of the partial result of earlier blocks
  const UOp* blocks_ = nullptr;   // the reduce of all blocks so far
  absl::Status status_;
};

}  // namespace tg::indices

#endif  // TG_PASSES_INDICES_INDEX_LOWERING_H_
