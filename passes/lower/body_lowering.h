// The value of each stored element as an expression over loads: indices are mapped from the stores
// through movement ops down to the kernel's arguments.
#ifndef TG_PASSES_LOWER_BODY_LOWERING_H_
#define TG_PASSES_LOWER_BODY_LOWERING_H_

#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/builder.h"
#include "ir/shape.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/id_pair.h"
#include "passes/analysis/indexing.h"
#include "passes/analysis/schedule.h"
#include "passes/lower/alike_stores.h"
#include "passes/lower/coordinates.h"
#include "passes/lower/reduce_lowering.h"
#include "passes/lower/staging.h"

namespace tg {

class BodyLowering {
 public:
  // Nodes are made in the body's own context.
  BodyLowering(const Module& module, Body& body, const Schedule& schedule, const Coordinates& where,
               ShapeMap& shapes, const Target& target, SimplifyFn simplify);

  // The lowered sink.
  absl::StatusOr<const UOp*> Run();

  // The reduces whose loops were not needed, wherever they are read.
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
  // Where a movement op at one position finds its value.
  struct MovedFrom {
    PositionId source;
    const UOp* clause;  // the op's own condition; null: none
  };
  // How one reduce at one position is carried out.
  struct ReduceAt {
    PositionId source;
    const UOp* valid = nullptr;  // false for padding of its axes
    std::vector<const UOp*> unrolls, ranges, specials;
    bool is_whole = false;  // each axis is one range
    // By axis before opts: its number in the schedule, and what the opts make of it, which is also
    // in one of the lists above.
    std::vector<std::pair<size_t, std::vector<const UOp*>>> parts;
  };

  // A range for each of Coordinates::own_loops; null: none.
  using LoopRanges = std::vector<const UOp*>;

  // How a staged value is kept, for one index of those axes that it has no room for.
  struct StagedAt {
    PositionId source;
    std::vector<const UOp*> unrolls, ranges, specials;
    const UOp* left_out = nullptr;  // the range of which groups of other stores take no step
    const UOp* room = nullptr;      // false for padding of its axes
    const UOp* valid = nullptr;     // where its source is made, in the first store's loops
    std::vector<size_t> loops;      // those that it has for itself, of Coordinates::own_loops
    LoopRanges own;                 // and its ranges of these
    StagedMemory memory;
  };

  PositionId Intern(Position p);
  const UOp* Lower(const UOp* u, PositionId at);
  // The value of `key`, or null after naming in `missing` what must be lowered first.
  const UOp* Step(const Key& key, std::vector<Key>& missing);
  const UOp* StepMovement(const Key& key, std::vector<Key>& missing);
  const UOp* StepReduce(const Key& key, std::vector<Key>& missing);
  // A reduce whose loop need not run (passes/simplify/reduce.h), as it is without one; else null.
  const UOp* FoldLoop(Op op, const UOp* x, const ReduceAt& plan);
  // Takes the axes along which `x` stays the same out of `plan`. Who reduces its result over the
  // ranges returned, which needs no loop, has the whole.
  std::vector<const UOp*> TakeIdleAxes(Op op, const UOp* x, ReduceAt& plan);
  // Whether unrolled terms are combined in each iteration, lane by lane, though there are registers
  // to do it after the loop: another loop makes them in each iteration, which needs the registers.
  bool CombinesFirst(const UOp* x, const ReduceAt& plan);
  const ReduceAt& PlanReduce(const Key& key);
  // `valid`, and that each index is one of its axis where that is not plain.
  const UOp* InShape(const std::vector<const UOp*>& index, const Shape& shape, const UOp* valid);
  // Where the terms of a reduce are read that is itself read at `at`: what concerns one work-item
  // alone must not keep it from reading terms for those that share them.
  const UOp* ForWholeGroup(const UOp* reduce, const Position& at);
  // One load of what is kept; the first makes it.
  const UOp* StepStaged(const Key& key, std::vector<Key>& missing);
  // `own`: the value's axes in the schedule's base.
  StagedAt& PlanStaged(const Key& key, const std::vector<size_t>& own);
  // That the coordinates along stored axes are ones of them, of those in `axes`.
  const UOp* InStored(LoopSet axes);
  // The ranges of own loops that `u` depends on are added to `ranges`.
  void FindLoops(const UOp* u, LoopRanges& ranges) const;
  // `u` with what `changed` has for nodes in their place, as it is built.
  const UOp* Replaced(const UOp* u, NodeMap<const UOp*>& changed);
  // `u` with other ranges in the place of those of own loops, whosever they are, where there are.
  const UOp* InLoops(const UOp* u, const LoopRanges& ranges);
  // Which store alone reads each staged value.
  void FindReaders();
  // Whether the group makes another store than this one.
  const UOp* IsOther(size_t store);
  // What is left of a loop's steps in the groups of a store: none in those of others.
  const UOp* StepsInGroupsOf(size_t store, const UOp* steps);
  // `token`, of the store with this number and its own loops, which groups of other stores take no
  // step of: what these have not staged is read under a gate outside of those loops.
  const UOp* ReadInOwnGroups(const UOp* token, size_t store, const std::vector<const UOp*>& own);
  // The coordinates of a schedule's axes, with what node `u` (a reduce or staged) adds of its own;
  // groups of other stores take no step of the first of these loops.
  std::vector<const UOp*> OwnAxes(const UOp* u, std::vector<const UOp*>& unrolls,
                                  std::vector<const UOp*>& ranges,
                                  std::vector<const UOp*>& specials);
  // The same reduce as if no opt concerned it: each of its axes a range.
  const ReduceAt& PlanWhole(const Key& key);
  // Where a load or a reduce at a position is valid, without the guards of padded axes on which its
  // indices do not depend: what is read there lies in the argument, and is stored, or a term, for
  // none of the padding.
  const UOp* ValidToRead(const Position& at);
  // `valid` without what holds in loops on which the number of an element depends (InLoopsOver).
  const UOp* ValidInLoops(const UOp* element, const UOp* valid);
  // The address of one element behind a pointer, through the movement ops above an argument.
  // `reads`: what is there may be any value of the argument in padding (FirstRowInPadding).
  const UOp* Address(const UOp* ptr, Position at, bool reads = false);
  // The coordinate along a stored axis, in the loops that `valid` depends on, and whether it is
  // one.
  struct Counted {
    const UOp* coordinate;
    const UOp* guard;
  };
  Counted CountedIn(size_t base, const UOp* valid);
  // Where a tile's rows reach beyond their axis, and are not neighbours in memory, its first row is
  // read in their place, of which nothing is stored: a load of what exists needs no gate.
  void FirstRowInPadding(const UOp*& element, const UOp*& valid);
  // What the first store's effects are with each store's arguments, in the groups of that store.
  const UOp* ForEachStore(const UOp* first);
  const UOp* LowerStore(const UOp* store);
  // The same, of the store with this number, in the loops that it does not share.
  const UOp* LowerInOwnLoops(const UOp* store, size_t number);
  const UOp* Find(const UOp* u, PositionId at, std::vector<Key>& missing);
  Position MapView(const UOp* u, const Position& at, const UOp** clause);
  // Whether what the axis counts must be compared with its size.
  bool NeedsGuard(size_t base) const;
  // That there is a coordinate of the axis; null: there always is.
  const UOp* Nonempty(size_t base);
  // `valid`, and that the axis is not empty if `parts` of it (PartsOfAxis) are loops: an index that
  // does not depend on them is one of its argument only if they run, and what is read there may be
  // read before them.
  const UOp* InLoopsOver(size_t base, const std::vector<const UOp*>& parts, const UOp* valid);
  // What the opts make of the axis, with the coordinates `axis` of the schedule's.
  std::vector<const UOp*> PartsOfAxis(size_t base, const std::vector<const UOp*>& axis) const;
  // That `value`, its coordinate, is one of the axis.
  const UOp* Guard(const BaseAxis& base, const UOp* value);
  // Whether `v` is already 0 wherever `valid` does not hold.
  bool ZeroOutside(const UOp* v, const UOp* valid, int depth) const;

  const Module& module_;
  Body& body_;
  const Schedule& schedule_;
  Coordinates where_;
  ShapeMap& shapes_;
  SimplifyFn simplify_;
  Builder b_;
  ReduceLowering reduces_;
  Staging staging_;
  std::vector<Position> positions_;
  llvm::DenseMap<uint64_t, llvm::SmallVector<PositionId, 1>> position_ids_;  // by hash
  llvm::DenseMap<IdPair, const UOp*> values_;
  llvm::DenseMap<IdPair, MovedFrom> moved_;
  std::unordered_map<uint64_t, ReduceAt> plans_, whole_plans_;
  std::unordered_map<uint64_t, StagedAt> staged_;  // by position, 0 along its own axes
  std::vector<const UOp*> locals_;
  NodeMap<size_t> own_loop_;  // by range: 1 + the number of its own loop; 0: it is none
  LoopRanges first_loops_;    // those of the first store
  // Where stores have groups of their own and are alike: what each has for the first one's
  // arguments.
  std::optional<std::vector<Counterparts>> alike_;
  // By staged value: 1 + the number of the one store that reads it; 0 where several do, and where
  // stores have no groups of their own.
  NodeMap<size_t> only_reader_;
  // What the groups of other stores do not make of such a value: nothing, as they take no step of
  // its outermost loop.
  struct LeftOut {
    const UOp *memory, *range;
    size_t store;
  };
  std::vector<LeftOut> left_out_;
  // What InLoopsOver added, and a range of a loop in which it holds.
  std::vector<std::pair<const UOp*, const UOp*>> nonempty_;
  // Guards of the terms that padding adds to reduces, and the coordinates that they compare.
  std::vector<std::pair<const UOp*, const UOp*>> padded_terms_;
  NodeMap<int> folded_, looped_;  // by reduce: at how many positions
  absl::Status status_;
};

}  // namespace tg

#endif  // TG_PASSES_LOWER_BODY_LOWERING_H_
