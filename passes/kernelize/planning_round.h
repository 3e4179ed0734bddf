// The state of one planning round: the decisions about each kernel so far, and the uses of each
// value. The walk is in planner.cc, the reasons to store a value are in decisions.cc, and staging
// in row-wise kernels is in staged_rows.cc.
#ifndef TG_PASSES_KERNELIZE_PLANNING_ROUND_H_
#define TG_PASSES_KERNELIZE_PLANNING_ROUND_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/planner.h"

namespace tg::kernelize {

class Planner {
 public:
  Planner(const PlannedGraph& graph, const FusionChoices& choices, UseTable& uses, CostModel& cost,
          Gathers& gathers, const Reasons& forced, const FusionFacts& known,
          NodeMap<UseList>& read_uses);

  MaterializationPlan Run();

  // Moves the results of the round, except for the plan, to `round`.
  void MoveTo(PlannedRound& round);

 private:
  // The decisions about one kernel so far.
  struct KernelState {
    analysis::LoopSet serial = 0;  // loops over the stored value that one work-item or group
                                   // executes, so that values invariant over them are computed once
    llvm::SmallVector<const UOp*, 2> reduces;
    bool divided = false;  // stores a shape with split axes, which are those of a contraction
    analysis::LoopSet reduced =
        0;  // loops over the stored value that one of its reduces varies over
  };

  void Visit(const UOp* u);

  // A copy to another device copies memory to memory. The destination is the target of an assign if
  // the copy is its whole value, and separate memory otherwise.
  void VisitCopy(const UOp* u);

  std::string DeviceOf(const UOp* copy) const;

  void Force(const UOp* u, std::string_view reason,
             std::optional<double> in_place_seconds = std::nullopt);

  // Whether a prediction has decided that `u` is not stored, whatever the bounds say.
  bool StaysInPlace(const UOp* u) const { return choices_.in_place.contains(u); }

  // The shape that a row-fused kernel stores, with split axes. If the work-items of a group share a
  // row, neighbouring axes of the row are merged, because a group distributes one axis only.
  Shape RowsOf(const UOp* kernel);

  // How often the kernel of `use` computes each element of the value: once per iteration of the
  // parallel loops, and of the serial loops along which the value varies.
  double Evaluations(UseId use);

  // The reason to store `u`; empty if it is not stored.
  // *in_place: seconds, by bounds, that computing it in place would add (Reason::in_place_seconds).
  std::string Decide(const UOp* u, double* in_place);

  // Whether all reduces in the expression of `u` are below values that its only kernel stages.
  bool DependsOnlyOnStaged(const UOp* u);

  // Whether the expressions of several sources of `u` contain reduces.
  bool JoinsReduces(const UOp* u) const;

  // Whether these uses of a value rule out row fusion: several kernels use it, or one whose reduces
  // vary along the loops over which the value repeats.
  bool LosesRows(const UseList& uses);

  // Whether `u`, which contains a reduce, can stay in the only kernel that uses it although the
  // kernel has more results than `u` has elements. One work-item or group then processes a row of
  // results that share an element of `u`, and computes that element once. The price is less
  // parallel work; it may cost as much as storing `u`. If so, marks the kernel as row-fused.
  // *repeated: the reason against it is that elements would be computed more than once.
  bool FusesRows(const UOp* u, bool* repeated, double* in_place);

  // Whether `u`, which contains a reduce, can be computed once per row in the row-fused kernel that
  // uses it, and staged there for all its uses. The row's loops are the loops that all uses
  // iterate over in the same way. If so, stages it and replaces its uses by one.
  bool Stages(const UOp* u, const std::string& reason, double* in_place);

  // Whether each use of `u` varies only along parts of the kernel's axes, so that each element
  // would be computed once if these parts were axes. If so, records that the axes are to be split.
  bool CutsRows(const UOp* u, const UOp* kernel);

  // If `u` is a contraction whose axes are parts of those of the only kernel that uses it, records
  // that these are to be split, so that tiles of results share what they load. If they cannot be
  // split, because a slice of the results begins or ends inside a part, returns the reason to store
  // `u`, unless it is so small that its loads cost less than that.
  std::string DivideResults(const UOp* u, UseId use);

  // The value that is computed from `reduce` alone, by elementwise ops on the way to its users.
  const UOp* TopOf(const UOp* reduce) const;

  // If `u` is a product for matrix instructions (contractions.h) that its kernel computes together
  // with another one, or at several indices, and so without a tile of such instructions, records
  // that it is to be stored, unless that takes longer.
  void KeepOneProduct(const UOp* u);

  void AddUse(const UOp* u, UseId use);

  void Propagate(const UOp* u);

  // Limit on the number of uses of a value that is recomputed at each use.
  static constexpr size_t kMaxUses = 256;

  const Body& body_;
  UOpSpan order_;
  ShapeMap& shapes_;
  UseTable& uses_;
  const passes::Target& target_;
  CostModel& cost_;
  Gathers& gathers_;
  const MaterializationOptions& options_;
  const FusionChoices& choices_;
  const FusionFacts& known_;
  const JointAssigns& joint_;
  NodeSet fused_;            // nodes computed in place at any cost
  NodeMap<uint32_t> users_;  // by node: the number of its users, and one of them
  NodeMap<const UOp*> last_user_;
  NodeSet assigned_;  // copies whose only user is an assign
  NodeMap<UseList>& read_uses_;
  NodeMap<UseList> node_uses_;
  SparseNodeMap<KernelState> kernels_;
  FusionFacts facts_;
  std::vector<DependsOnStaged> queried_;
  std::vector<StagingDecision> staging_decisions_;
  bool cuts_ = false, stages_ = false;
  llvm::DenseMap<const UOp*, StagedValue> staged_;
  Reasons reasons_;
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_PLANNING_ROUND_H_
