#ifndef TG_PASSES_DEVECTORIZE_MEMORY_CUTTER_H_
#define TG_PASSES_DEVECTORIZE_MEMORY_CUTTER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "passes/decompose/forward.h"
#include "passes/devectorize/element_runs.h"
#include "passes/devectorize/lane_index.h"
#include "passes/devectorize/lanes.h"
#include "passes/devectorize/memory.h"
#include "passes/devectorize/register_scratch.h"
#include "passes/simplify/simplify.h"

namespace tg {

// One lane of an access to register scratch.
struct RegisterLane {
  int lane = 0;
  int64_t element = 0;
  const UOp* gate = nullptr;         // null: always
  const UOp* alternative = nullptr;  // of a gated load
};

// Cuts the accesses of a body, one after the other, sources first. memory.cc has the walk and
// accesses to global and local memory; the rest is in files of its own.
class MemoryCutter {
 public:
  MemoryCutter(Body& body, const Module& module, const Target& target, UOpSpan order,
               IndexTypes& types)
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
    ForwardRewrite(body_, order_, [&](const UOp* u, UOpSpan srcs) {
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

  // ---- memory.cc
  const UOp* RewriteLoad(const UOp* u, UOpSpan srcs);
  const UOp* RewriteStore(const UOp* u, UOpSpan srcs);
  // A load like `u` of a piece; `alternatives`, where `u` has one, are those of its lanes.
  const UOp* LoadPiece(const UOp* u, const UOp* address, int lanes, UOpSpan alternatives);
  // By lane: what those hold that do not happen.
  LaneRefs NoLanes(const UOp* u, const UOp* alternative);
  // The lanes that happen at all; a null gate where it is known to hold.
  std::vector<LaneAccess> LanesOf(const UOp* access, const UOp* alternative);
  // What its lanes move together; `alternatives`, by lane, receives those of a gated load.
  std::vector<ElementRun> RunsOfAccess(const UOp* access, const UOp* alternative,
                                       std::vector<const UOp*>* alternatives = nullptr);
  // `address` where `gate` holds, if it divides: what is negative elsewhere need not be there.
  Linear Under(const UOp* gate, const Linear& address);
  // Calls f(address, first element's place in the run, width) for each piece of the run.
  template <typename F>
  void ForEachPiece(const UOp* address, const ElementRun& run, int widest, F&& f);

  // ---- strided_cuts.cc
  // Neighbouring lanes whose elements are equally far apart.
  struct StridedGroup {
    int first_lane, lanes;
    Linear start;
    Attr stride;  // of a load or a store
  };
  // All lanes of the access in such groups, where these are fewer than the pieces of the runs; none
  // where they are not, or where a group would be small.
  std::vector<StridedGroup> StridedGroups(const UOp* access, const std::vector<ElementRun>& runs);

  // ---- register_cuts.cc
  using Pieces = std::vector<RegisterScratch::Piece>;
  const UOp* LoadRegisters(const UOp* u, UOpSpan srcs, const Pieces& pieces);
  const UOp* StoreRegisters(const UOp* u, UOpSpan srcs, const Pieces& pieces);
  // Calls f(address, lane of each element of the piece).
  template <typename F>
  void ForEachRegisterPiece(const UOp* address, const std::vector<RegisterLane>& lanes,
                            const Pieces& pieces, F&& f);
  // The same where lanes access consecutive elements from `first` on; f(address, piece).
  template <typename F>
  void ForEachPieceOf(const UOp* address, const Pieces& pieces, int64_t first, int64_t lanes,
                      F&& f);
  // The first element, where an access moves consecutive ones, as they are.
  std::optional<int64_t> FirstOfRun(const UOp* access) const;
  // Whether this `index` is of register scratch and says its elements by itself.
  bool IsFixed(const UOp* u) const {
    return u->num_srcs == 2 && ConstantElement(u, 0) && registers_.PiecesOf(u->src(0));
  }
  // The lanes that happen at all.
  std::vector<RegisterLane> RegisterLanesOf(const UOp* access, const UOp* alternative);

  // ---- image_cuts.cc
  const UOp* LoadImage(const UOp* u, UOpSpan srcs);
  const UOp* StoreImage(const UOp* u, UOpSpan srcs);

  const UOp* Join(UOpSpan tokens) {
    return tokens.size() == 1 ? tokens[0] : b_.context().Make(Op::kNoop, kVoid, tokens);
  }
  // An address like `like`, which the access has now, of an element, where `gate`, unless it is
  // null, holds. The same one keeps its name.
  const UOp* Address(const UOp* like, const Linear& element, const UOp* gate = nullptr) {
    const UOp* at = index_.linear().Build(element);
    if (gate) gate = types_.Typed(gate);
    if (like->src(1) == at && HasGate(like, gate)) return types_.Typed(like);
    return b_.IndexPtr(PointerOf(like), types_.Typed(at), gate);
  }
  // In register scratch.
  const UOp* Address(const UOp* like, int64_t element, const UOp* gate = nullptr) {
    if (gate) gate = types_.Typed(gate);
    const UOp* at = like->src(1);
    if (IsConst(at) && at->word() == element && HasGate(like, gate)) return types_.Typed(like);
    return b_.IndexPtr(PointerOf(like), types_.Number(element), gate);
  }
  static bool HasGate(const UOp* address, const UOp* gate) {
    return gate ? address->src(address->num_srcs - 1) == gate : address->num_srcs == 2;
  }
  // The new state of the pointer that the access goes through: its `index` has been rebuilt.
  static const UOp* PointerOf(const UOp* new_address) { return new_address->src(0); }

  Body& body_;
  const Target& target_;
  const UOpSpan order_;  // sources first
  RegisterScratch registers_;
  Builder b_;
  LaneIndex index_;
  IndexTypes& types_;
  const Module& module_;
  std::optional<Simplifier> simplifier_;
  MemoryStatistics statistics_;
  absl::Status status_;
};

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_MEMORY_CUTTER_H_
