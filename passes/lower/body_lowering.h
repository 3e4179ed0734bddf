// Lowers a kernel's body: each stored element becomes an expression over loads, by mapping indices
// from the stores through movement ops down to the kernel's arguments.
#ifndef TG_PASSES_LOWER_BODY_LOWERING_H_
#define TG_PASSES_LOWER_BODY_LOWERING_H_

#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/arithmetic.h"
#include "ir/builder.h"
#include "ir/shape.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/id_pair.h"
#include "passes/analysis/indexing.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/lower/coordinates.h"
#include "passes/lower/reduce_lowering.h"
#include "passes/lower/staging.h"

namespace tg {

class BodyLowering {
 public:
  // New nodes are created in the body's context.
  BodyLowering(const Module& module, Body& body, const LoopNest& schedule, const Coordinates& where,
               ShapeMap& shapes, const Target& target, SimplifyFn simplify);

  // The lowered sink.
  absl::StatusOr<const UOp*> Run();

  // The reduces that need no loop at any of their positions.
  std::vector<const UOp*> FoldedReduces() const;

 private:
  using PositionId = uint32_t;
  // A value of the old body at one position.
  struct Key {
    const UOp* node;
    PositionId at;
    friend bool operator==(const Key&, const Key&) = default;
    // For maps by key: a DenseMap, and a map of the standard library.
    IdPair ids() const { return {node->id, at}; }
    uint64_t bits() const { return uint64_t{node->id} << 32 | at; }
  };
  // The source position of a movement op at one position.
  struct MovedFrom {
    PositionId source;
    const UOp* clause;  // the predicate that the op adds; null: none
  };
  // The implementation of one reduce at one position.
  struct ReduceAt {
    PositionId source;
    const UOp* valid = nullptr;  // false for padding of its axes
    std::vector<const UOp*> unrolls, ranges, specials;
    bool is_whole = false;  // each axis is one range
    // By axis before directives: its number in the schedule, and the nodes that directives split it
    // into, which are also in the lists above.
    std::vector<std::pair<size_t, std::vector<const UOp*>>> parts;
  };

  // The memory and loops of a staged value, for one index of the axes that its buffer lacks.
  struct StagedAt {
    PositionId source;
    std::vector<const UOp*> unrolls, ranges, specials;
    const UOp* room = nullptr;   // predicate: false for padding of its axes
    const UOp* valid = nullptr;  // predicate of its source
    StagedMemory memory;
  };

  // The copy of a packed value, for one position at which it is read.
  struct PackedAt {
    // An axis of the copy, and the index along it while it is filled and where it is read.
    struct Axis {
      int64_t size;
      const UOp *filled, *read;
    };
    PositionId source;  // where its elements are computed
    std::vector<const UOp*> unrolls, ranges;
    std::vector<Axis> axes;  // the outermost first
    StagedMemory memory;
    int64_t Size() const { return SizeFrom(0); }
    int64_t SizeFrom(size_t first) const {
      int64_t n = 1;
      for (size_t k = first; k < axes.size(); ++k) n = SaturatingMul(n, axes[k].size);
      return n;
    }
    // Where the copy is in local memory: the loop in each step of which it is filled, and what is 1
    // for a work-item without an element; null: there is none.
    const UOp *step = nullptr, *beyond = nullptr;
    size_t row = 0;       // the axes from this one on make a row
    int64_t padding = 0;  // elements between rows
    // In memory.
    int64_t Elements() const { return Size() + Size() / SizeFrom(row) * padding; }
  };
  // The barrier behind the filling of a copy in local memory, and the loops around it.
  struct Filled {
    const UOp* barrier;
    std::vector<const UOp*> loops;
  };
  // A coordinate inside the loop in which a value is packed.
  struct Inside {
    size_t axis;  // of the schedule
    const UOp* leaf;
  };
  struct Window;

  PositionId Intern(Position p);
  const UOp* Lower(const UOp* u, PositionId at);
  // The value of `key`. Null if other keys must be lowered first, which `missing` receives.
  const UOp* Step(const Key& key, std::vector<Key>& missing);
  const UOp* StepMovement(const Key& key, std::vector<Key>& missing);
  const UOp* StepReduce(const Key& key, std::vector<Key>& missing);
  // The value of a reduce that needs no loop (passes/simplify/closed_reduce.h); null if it needs
  // one.
  const UOp* FoldLoop(Op op, const UOp* x, const ReduceAt& plan);
  // Removes the axes along which `x` is invariant from `plan`. Reducing the result of the remaining
  // plan over the returned ranges, which needs no loop, gives the whole reduce.
  std::vector<const UOp*> HoistInvariantAxes(Op op, const UOp* x, ReduceAt& plan);
  // Whether unrolled terms are combined in each iteration although the registers would suffice to
  // combine them after the loop: an inner loop computes the terms and needs the registers.
  bool CombinesFirst(const UOp* x, const ReduceAt& plan);
  const ReduceAt& PlanReduce(const Key& key);
  // The computation of the value that is staged in the output and whose elements are the terms of
  // this reduce, so that one loop does both; null if the terms are something else.
  const StagedAt* FilledAlong(const Key& key, const ReduceAt& plan);
  // The conjunction of `valid` and the bounds checks of the indices that may be out of `shape`.
  const UOp* InShape(const std::vector<const UOp*>& index, const Shape& shape, const UOp* valid);
  // The predicate for the terms of a reduce that is read at `at`. Drops predicates on a single
  // work-item when the load is cooperative, because other work-items share the loaded terms.
  const UOp* ForWholeGroup(const UOp* reduce, const Position& at);
  // A load of a staged value. The first call also emits the computation.
  const UOp* StepStaged(const Key& key, std::vector<Key>& missing);
  // Whether the output holds the value at `source`: at the row of the results that are stored.
  bool IsInOutput(const UOp* staged, const std::vector<size_t>& own, PositionId source) const;
  // `own`: the value's axes in the schedule's base.
  StagedAt& PlanStaged(const Key& key, const std::vector<size_t>& own);
  // A load of the copy of a packed value, or the value itself if no directive packs it.
  const UOp* StepPacked(const Key& key, std::vector<Key>& missing);
  PackedAt& PlanPacked(const Key& key, size_t at);
  // Orders the loops that fill a copy by the addresses of `x`, what is copied. Returns `x` in terms
  // of these loops, where rows of memory that become columns are copied in squares.
  const UOp* OrderFill(PackedAt& plan, const UOp* x);
  // The same for a copy that the work-items of a group make together in local memory.
  PackedAt& PlanLocalCopy(const Key& key, const PackedValue& value);
  // Emits the copy of `x`, of which each work-item makes a part.
  void FillTogether(const PackedValue& value, PackedAt& plan, const UOp* x);
  // Emits the copy for the first step in front of the loop, and in each step that of the next one,
  // whose elements are loaded before the step's loops and stored behind them. `first`, `next`: the
  // elements that a work-item copies; `element`: their numbers in the copy.
  void FillAhead(PackedAt& plan, const UOp* first, const UOp* next, const UOp* element,
                 const UOp* gate);
  // The number of the element that a copy's axes count by `index`.
  const UOp* ElementOf(const PackedAt& plan, const UOp* PackedAt::Axis::*index);
  // The axes that a local id counts, the outermost first, each with its coordinate.
  std::vector<Inside> CoordinatesIn(const UOp* special) const;
  // `sink`, where copies that are filled in the same loops have one barrier behind them.
  const UOp* JoinFills(const UOp* sink);
  // Fails if the kernel's local memory exceeds the target's.
  absl::Status CheckLocalMemory(const UOp* sink) const;
  // The position without the guards of padded results, of which anything that exists may be read.
  Position WithoutPadding(Position at, const Shape& shape);
  std::vector<Window> FindWindows(const Position& at, const std::vector<Inside>& inside);
  // Whether a predicate depends on the coordinates of a window by their sum alone.
  bool IsSumOf(const UOp* valid, const Window& window, const std::vector<Inside>& inside);
  // An unrolled axis that is none of the schedule.
  const UOp* FreshUnroll(int64_t size);
  // The axis whose coordinate is this leaf of an index; nullopt for other leaves.
  std::optional<size_t> AxisOfLeaf(const UOp* leaf) const;
  // Whether no loop over blocks of terms has begun a second step, or all are in their last one.
  const UOp* InFirstBlock();
  const UOp* InLastBlock();
  // The address in the memory as it is in one step of the loops over blocks: what accesses it stays
  // in these loops, also where the value does not depend on them.
  const UOp* InEachBlock(const UOp* address);
  // `x`, the reduce of one block of terms, and those before it, which are in the output.
  const UOp* WithEarlierBlocks(Op op, const UOp* x);
  // The bounds check of the coordinates along the stored axes in `axes`.
  const UOp* InStored(LoopSet axes);
  // `u` with nodes replaced by their entries in `changed`, which caches rebuilt nodes; Replaced
  // simplifies it.
  const UOp* Rebuilt(const UOp* u, NodeMap<const UOp*>& changed);
  const UOp* Replaced(const UOp* u, NodeMap<const UOp*>& changed);
  // The coordinates of the schedule's axes, including new ones for node `u` (a reduce or a staged
  // value).
  std::vector<const UOp*> OwnAxes(const UOp* u, std::vector<const UOp*>& unrolls,
                                  std::vector<const UOp*>& ranges,
                                  std::vector<const UOp*>& specials);
  // The implementation of a reduce without directives: each of its axes is a range.
  const ReduceAt& PlanWhole(const Key& key);
  // The predicate of a load or reduce at a position, without the predicates of padded axes on which
  // its indices do not depend: the address is in bounds there, and the loaded value is neither
  // stored nor a term of a reduce for the padding.
  const UOp* ValidToRead(const Position& at);
  // `valid` without the clauses of InLoopsOver that hold in loops on which `element` depends.
  const UOp* ValidInLoops(const UOp* element, const UOp* valid);
  // The address of one element of a pointer, through the movement ops above an argument. `reads`:
  // in padding, the address may be that of any element of the argument (FirstRowInPadding).
  const UOp* Address(const UOp* ptr, Position at, bool reads = false);
  // The coordinate along a stored axis, and the predicate that it is in bounds.
  struct Counted {
    const UOp* coordinate;
    const UOp* guard;
  };
  Counted CountedAlong(size_t base);
  // If rows of a tile exceed their axis and are not adjacent in memory, loads the tile's first row
  // instead of them. The values are not stored, and a load that is in bounds needs no gate.
  void FirstRowInPadding(const UOp*& element, const UOp*& valid);
  const UOp* LowerStore(const UOp* store);
  const UOp* Find(const UOp* u, PositionId at, std::vector<Key>& missing);
  Position MapView(const UOp* u, const Position& at, const UOp** clause);
  // Whether the axis's coordinate needs a bounds check.
  bool NeedsGuard(size_t base) const;
  // The predicate that the axis is not empty; null: it never is.
  const UOp* Nonempty(size_t base);
  // `valid`, and, if `parts` of the axis (PartsOfAxis) are loops, the predicate that the axis is
  // not empty. An index that does not depend on these loops is in bounds only if they run, but its
  // load may be hoisted out of them.
  const UOp* InLoopsOver(size_t base, const std::vector<const UOp*>& parts, const UOp* valid);
  // The parts that directives split the axis into, given the coordinates `axis` of the scheduled
  // axes.
  std::vector<const UOp*> PartsOfAxis(size_t base, const std::vector<const UOp*>& axis) const;
  // The bounds check of `value`, the coordinate along the axis.
  const UOp* Guard(const BaseAxis& base, const UOp* value);
  // Whether `v` is already 0 wherever `valid` does not hold.
  bool ZeroOutside(const UOp* v, const UOp* valid, int depth) const;

  const Module& module_;
  Body& body_;
  const LoopNest& nest_;
  Coordinates where_;
  ShapeMap& shapes_;
  const Target& target_;
  SimplifyFn simplify_;
  Builder b_;
  ReduceLowering reduces_;
  Staging staging_;
  std::vector<Position> positions_;
  llvm::DenseMap<uint64_t, llvm::SmallVector<PositionId, 1>> position_ids_;  // by hash
  llvm::DenseMap<IdPair, const UOp*> values_;
  llvm::DenseMap<IdPair, MovedFrom> moved_;
  std::unordered_map<uint64_t, ReduceAt> plans_, whole_plans_;
  std::unordered_map<uint64_t, StagedAt> staged_;  // by position, 0 along staged axes
  std::vector<const UOp*> locals_;
  // The predicates that InLoopsOver added, each with a range of a loop in which it holds.
  std::vector<std::pair<const UOp*, const UOp*>> nonempty_;
  // The predicates of the terms that padding adds to reduces, and the compared coordinates.
  std::vector<std::pair<const UOp*, const UOp*>> padded_terms_;
  NodeMap<int> folded_, looped_;   // by reduce: the number of positions
  NodeMap<size_t> axis_of_range_;  // by range: 1 + the schedule's axis
  std::unordered_map<uint64_t, PackedAt> packed_;
  std::vector<Filled> fills_;
  NodeMap<const UOp*> packed_valid_;      // by load of a copy: the predicate without which it is 0
  std::vector<const UOp*> block_ranges_;  // the loops over blocks of a reduce's terms
  int64_t num_fresh_unrolls_ = 0;
  Position results_;              // the place of a result
  const UOp* output_ = nullptr;   // the pointer through which results are stored
  const UOp* partial_ = nullptr;  // what is stored at first: the address of the blocks so far
  const UOp* blocks_ = nullptr;   // the value of all blocks so far
  absl::Status status_;
};

}  // namespace tg

#endif  // TG_PASSES_LOWER_BODY_LOWERING_H_
