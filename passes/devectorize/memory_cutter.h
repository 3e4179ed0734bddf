// MemoryCutter: the implementation of CutMemory (memory_width.h).
#ifndef TG_PASSES_DEVECTORIZE_MEMORY_CUTTER_H_
#define TG_PASSES_DEVECTORIZE_MEMORY_CUTTER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "passes/devectorize/element_runs.h"
#include "passes/devectorize/lane_index.h"
#include "passes/devectorize/lane_origins.h"
#include "passes/devectorize/memory_width.h"
#include "passes/devectorize/register_scratch.h"
#include "passes/legalize/forward.h"
#include "passes/simplify/simplify.h"

namespace tg::devectorize {

// One lane of an access to register scratch.
struct RegisterLane {
  int lane = 0;
  int64_t element = 0;
  const UOp* gate = nullptr;         // null: always
  const UOp* alternative = nullptr;  // of a gated load
};

// Splits the accesses of a body in order, sources first. memory_width.cc has the walk and the
// accesses to global, local and private memory; register scratch and images have separate files.
class MemoryCutter {
 public:
  MemoryCutter(Body& body, const Module& module, const passes::Target& target, UOpSpan order,
               legalize::IndexTypes& types)
      : body_(body),
        target_(target),
        order_(order),
        registers_(body, order_, module, target),
        b_(*body.context),
        index_(b_, module, order_, [&](const UOp* u) { return !IsFixed(u); }),
        types_(types),
        module_(module) {}

  absl::StatusOr<MemoryStatistics> Run(
      llvm::function_ref<const UOp*(const UOp* u, UOpSpan srcs)> other) {
    legalize::ForwardRewrite(body_, order_, [&](const UOp* u, UOpSpan srcs) {
      const UOp* v = other(u, srcs);
      v = types_.Finish(v ? v : Rewrite(u, srcs));
      index_.Visit(u, v);
      return v;
    });
    if (!status_.ok()) return status_;
    return statistics_;
  }

 private:
  const UOp* Rewrite(const UOp* u, UOpSpan srcs);

  // ---- memory_width.cc
  const UOp* RewriteLoad(const UOp* u, UOpSpan srcs);
  const UOp* RewriteStore(const UOp* u, UOpSpan srcs);
  // Loads a piece with the attributes of `u`; `alternatives`, if `u` has one, are by lane.
  const UOp* LoadPiece(const UOp* u, const UOp* address, int lanes, UOpSpan alternatives);
  // The value that each lane of load `u` has if it is not loaded: its alternative (null: 0).
  LaneRefs NoLanes(const UOp* u, const UOp* alternative);
  // The lanes of a load or store whose gate is not known to be false; a gate that is known to hold
  // is null.
  std::vector<LaneAccess> LanesOf(const UOp* access, const UOp* alternative);
  // The runs of these lanes. `alternatives` receives, by lane, the alternative of a gated load.
  std::vector<ElementRun> RunsOfAccess(const UOp* access, const UOp* alternative,
                                       std::vector<const UOp*>* alternatives = nullptr);
  // Simplifies an `address` that contains a division, under the assumption that `gate` holds: if
  // the dividend is negative only where the gate is false, its quotient becomes simpler.
  AffineExpr Under(const UOp* gate, const AffineExpr& address);
  // ---- masked_cuts.cc
  // The runs of these lanes as accesses with a gate for each element, if the target has such and
  // that at least halves the number of `runs`; else `runs`.
  std::vector<ElementRun> FewerUnderMasks(const UOp* access, std::span<const LaneAccess> lanes,
                                          std::vector<ElementRun> runs);
  // The gates of neighbouring elements as a vector; a single one if they are equal, null if they
  // always hold. Elements behind the end of the run are not accessed.
  const UOp* GateOf(const ElementRun& run, size_t first, size_t size);
  // Whether GateOf can make a vector of these gates.
  bool MayBeMask(std::span<const UOp* const> gates);

  // Splits the run into pieces of at most `widest` elements, aligned if the target requires it, and
  // calls f(address, position of the first element in the run, elements) for each. `whole`: the
  // last piece of elements that have gates has elements behind the end of the run.
  template <typename F>
  void ForEachPiece(const UOp* address, const ElementRun& run, int widest, bool whole, F&& f);

  // ---- strided_cuts.cc
  // Neighbouring lanes whose elements have a constant stride.
  struct StridedGroup {
    int first_lane, lanes;
    AffineExpr start;
    Attr stride;  // of a load or a store
  };
  // Partitions all lanes of the access into such groups. Empty if that gives no fewer accesses than
  // the pieces of the runs, if a group would be small, if a lane is gated or shares its element, or
  // if the memory is not global.
  std::vector<StridedGroup> StridedGroups(const UOp* access, const std::vector<ElementRun>& runs);

  // ---- register_cuts.cc
  using Pieces = std::vector<RegisterScratch::Piece>;
  const UOp* LoadRegisters(const UOp* u, UOpSpan srcs, const Pieces& pieces);
  const UOp* StoreRegisters(const UOp* u, UOpSpan srcs, const Pieces& pieces);
  // Calls f(address, lane of each element of the piece) for each piece that the lanes access.
  template <typename F>
  void ForEachRegisterPiece(const UOp* address, const std::vector<RegisterLane>& lanes,
                            const Pieces& pieces, F&& f);
  // The same if `lanes` lanes access consecutive elements from `first` on; calls f(address, piece).
  template <typename F>
  void ForEachPieceOf(const UOp* address, const Pieces& pieces, int64_t first, int64_t lanes,
                      F&& f);
  // The first element of an access without a gate whose lanes access consecutive constant elements
  // in order; nullopt for other accesses.
  std::optional<int64_t> FirstOfRun(const UOp* access) const;
  // Whether this `index` has no gate and addresses constant elements of register scratch.
  bool IsFixed(const UOp* u) const {
    return u->num_srcs == 2 && ConstantElement(u, 0) && registers_.PiecesOf(u->src(0));
  }
  // The same as LanesOf, for an access to register scratch.
  std::vector<RegisterLane> RegisterLanesOf(const UOp* access, const UOp* alternative);

  // ---- image_cuts.cc
  const UOp* LoadImage(const UOp* u, UOpSpan srcs);
  const UOp* StoreImage(const UOp* u, UOpSpan srcs);

  const UOp* Join(UOpSpan tokens) {
    return tokens.size() == 1 ? tokens[0] : b_.context().Make(Op::kNoop, kVoid, tokens);
  }
  // The address of `element` in the memory of `like`, an access's rebuilt `index`, under `gate`
  // (null: always). Returns the node `like`, which keeps its name, if nothing changes.
  const UOp* Address(const UOp* like, const AffineExpr& element, const UOp* gate = nullptr) {
    const UOp* at = index_.linear().Build(element);
    if (gate) gate = types_.Typed(gate);
    if (like->src(1) == at && HasGate(like, gate)) return types_.Typed(like);
    return b_.IndexPtr(PointerOf(like), types_.Typed(at), gate);
  }
  // The same in register scratch.
  const UOp* Address(const UOp* like, int64_t element, const UOp* gate = nullptr) {
    if (gate) gate = types_.Typed(gate);
    const UOp* at = like->src(1);
    if (IsConst(at) && at->word() == element && HasGate(like, gate)) return types_.Typed(like);
    return b_.IndexPtr(PointerOf(like), types_.Number(element), gate);
  }
  static bool HasGate(const UOp* address, const UOp* gate) {
    return gate ? address->src(address->num_srcs - 1) == gate : address->num_srcs == 2;
  }
  // The pointer of an access, from its rebuilt `index`.
  static const UOp* PointerOf(const UOp* new_address) { return new_address->src(0); }

  Body& body_;
  const passes::Target& target_;
  const UOpSpan order_;  // sources first
  RegisterScratch registers_;
  Builder b_;
  LaneIndex index_;
  legalize::IndexTypes& types_;
  const Module& module_;
  std::optional<simplify::Simplifier> simplifier_;
  MemoryStatistics statistics_;
  absl::Status status_;
};

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_MEMORY_CUTTER_H_
