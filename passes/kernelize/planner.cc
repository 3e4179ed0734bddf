#include "passes/kernelize/planner.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/kernelize/row_shape.h"

namespace tg {
namespace {

class Planner {
 public:
  // `order`: the graph's nodes, sources first.
  Planner(const Body& body, UOpSpan order, ShapeMap& shapes, UseTable& uses, const Target& target,
          CostModel& cost, const RealizeOptions& options, const Reasons& forced,
          const Findings& known, const NodeSet& fused, NodeMap<UseList>& read_uses)
      : body_(body),
        order_(order),
        shapes_(shapes),
        uses_(uses),
        target_(target),
        cost_(cost),
        options_(options),
        known_(known),
        fused_(fused),
        read_uses_(read_uses),
        reasons_(forced) {
    node_uses_.Reserve(body.context->num_nodes());
    findings_.rows = known.rows;
    cost_.ComputeCones(order_, known.stored, known.kept);
    for (const UOp* u : order_) {
      for (const UOp* s : u->srcs()) {
        if (s->op == Op::kCopy) ++users_[s];
      }
    }
  }

  RealizePlan Run() {
    for (const UOp* root : body_.root->srcs()) {
      if (!IsStored(root)) reasons_.Set(root, "result of the graph");
    }
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) Visit(*it);
    RealizePlan plan;
    plan.kept = std::move(kept_);
    for (const UOp* u : order_) {
      if (!reasons_.Has(u)) continue;
      plan.realized.push_back({u, reasons_.Of(u), {}});
      if (kernels_[u].serial) plan.realized.back().rows = RowsOf(u);
      plan.number[u] = static_cast<int>(plan.realized.size());
    }
    return plan;
  }

  // What the round found, but for the plan.
  void MoveTo(PlannedRound& round) {
    round.findings = std::move(findings_);
    round.asked = std::move(asked_);
    round.cuts = cuts_;
    round.keeps = keeps_;
  }

 private:
  // What is decided about a kernel while its expression is walked.
  struct KernelState {
    LoopSet serial = 0;  // loops over what it stores that one work-item or group goes through,
                         // so that what does not vary over them is computed once
    llvm::SmallVector<const UOp*, 2> reduces;
    LoopSet reduced = 0;  // loops over what it stores that a reduce in it varies over
  };

  void Visit(const UOp* u) {
    if (u->op == Op::kSink) return;
    if (u->op == Op::kCopy) return VisitCopy(u);
    if (IsStored(u)) {
      UseList& reads = read_uses_[u];
      reads.insert(reads.end(), node_uses_[u].begin(), node_uses_[u].end());
      // What an op that is no kernel reads must be stored.
      if (u->op == Op::kBufferView) Force(u->src(0), "source of a copy");
      if (u->op == Op::kBufferView || u->op == Op::kAfter || u->op == Op::kAssign) {
        // What an assign writes is a place, whatever movement ops make of it.
        for (const UOp* s : u->srcs().subspan(u->op == Op::kAssign ? 1 : 0)) {
          Force(s, "written in place");
        }
      }
      return;
    }
    if (u->op == Op::kContiguous) reasons_.Set(u, "contiguous");
    if (u->op == Op::kAssign) {
      const UOp* value = u->src(1);
      const bool by_copy = value->op == Op::kCopy && users_.Get(value) == 1 && IsWhole(u->src(0));
      if (by_copy) assigned_.Insert(value);
      reasons_.Set(u, by_copy ? "copied to " + DeviceOf(value) : "assign");
    }
    if (!reasons_.Has(u)) {
      std::string reason = Decide(u);
      if (!reason.empty() && !fused_.Contains(u)) reasons_.Set(u, std::move(reason));
    }
    if (fused_.Contains(u) && !reasons_.Has(u)) {
      for (const UOp* s : u->srcs()) fused_.Insert(s);
    }
    if (reasons_.Has(u)) {
      UseList& reads = read_uses_[u];
      reads.insert(reads.end(), node_uses_[u].begin(), node_uses_[u].end());
      node_uses_[u] = {uses_.Root(u, findings_.rows.Get(u))};
    }
    if (u->op == Op::kReduceAxis) {
      for (UseId use : node_uses_[u]) {
        const UOp* kernel = uses_.KernelOf(use);
        llvm::SmallVector<const UOp*, 2>& reduces = kernels_[kernel].reduces;
        if (!llvm::is_contained(reduces, u)) reduces.push_back(u);
        kernels_[kernel].reduced |= uses_.Varies(use) & uses_.OuterLoops(kernel);
      }
    }
    Propagate(u);
  }

  // A copy to another device takes memory to memory: that of an assign that it is the whole value
  // of, else some of its own.
  void VisitCopy(const UOp* u) {
    const std::string to = DeviceOf(u);
    if (!assigned_.Contains(u)) {
      reasons_.Set(u, "copied to " + to);
      UseList& reads = read_uses_[u];
      reads.insert(reads.end(), node_uses_[u].begin(), node_uses_[u].end());
      node_uses_[u] = {uses_.Root(u)};
    }
    Force(u->src(0), "source of a copy to " + to);
    for (UseId use : node_uses_[u]) AddUse(u->src(0), use);
  }

  std::string DeviceOf(const UOp* copy) const {
    const std::string name(body_.context->String(static_cast<StringId>(copy->word())));
    return name.empty() ? "the default device" : "device '" + name + "'";
  }

  // Whether nothing stands between the value of an assign and the memory that it is written to.
  bool IsWhole(const UOp* target) const {
    while (target->op == Op::kReshape) target = target->src(0);
    return !IsMovement(target->op);
  }

  void Force(const UOp* u, std::string_view reason) {
    if (!IsStored(u) && u->op != Op::kKernel && u->dtype != kVoid && !reasons_.Has(u)) {
      reasons_.Set(u, std::string(reason));
    }
  }

  // What a kernel of rows stores, with axes cut; and merged where the work-items of a group share
  // a row, who find enough to do along one axis only.
  Shape RowsOf(const UOp* kernel) {
    const Shape& cut = findings_.rows.Get(kernel);
    if (!target_.is_gpu) return cut;
    const Shape& whole = shapes_.Of(kernel);
    const Shape merged = MergeAlong(cut.empty() ? whole : cut, kernels_[kernel].serial);
    return merged == whole ? Shape() : merged;
  }

  // How often the kernel of `use` computes the value there: in every iteration of its parallel
  // loops, and of those others that the value varies over.
  double Evaluations(UseId use) {
    const UOp* kernel = uses_.KernelOf(use);
    const LoopSet parallel = uses_.OuterLoops(kernel) & ~kernels_[kernel].serial;
    return uses_.Iterations(kernel, parallel | uses_.ComputedIn(use));
  }

  // Why `u` is stored; empty: it is not.
  std::string Decide(const UOp* u) {
    const bool reduce = u->op == Op::kReduceAxis;
    const UseList& uses = node_uses_[u];
    if (uses.empty() || (!reduce && !IsElementwise(u->op))) return "";
    double evaluations = 0;
    for (UseId use : uses) evaluations += Evaluations(use);
    const double size = cost_.Elements(u);
    const Cone& cone = cost_.ConeOf(u);
    // Arithmetic on places is no memory's business, unless the ways to it multiply.
    if (uses.size() > kMaxUses) return absl::StrCat("used in ", uses.size(), " ways");
    if (!cone.reads && !cone.reduces && cone.weight <= CostModel::kPlaceWeight) return "";
    if (uses.size() > 1 || evaluations > size) {
      const bool again = IsMadeOfKept(u);
      const auto how = [&] {
        return absl::StrCat("used in ", uses.size(), uses.size() == 1 ? " way, " : " ways, ",
                            static_cast<int64_t>(evaluations), " times for ",
                            static_cast<int64_t>(size), " elements");
      };
      if (cone.reduces && !options_.fuse) return how();
      if (cone.reduces && cone.weight > CostModel::kFreeReduce) {
        bool repeated = false;
        if (KeepsRows(u, &repeated)) return "";
        if (!again) {
          std::string reason = how();
          if (Keeps(u, reason)) return "";
          if (repeated) findings_.stored.push_back(u);
          return reason;
        }
      }
      // Repeat the work, or write the value once and read it.
      double repeat =
          cost_.ComputeSeconds(again ? cost_.ConeAboveKept(u) : cone, evaluations - size);
      if (!again) repeat += cost_.TermSeconds(u, evaluations - size);
      // What its rows share would have to be stored in its stead.
      if (LosesRows(uses)) repeat += cone.rows * CostModel::kLaunchSeconds;
      if (repeat > cost_.StoreSeconds(u)) return how();
      // A kernel of rows has the row at hand.
      const bool rows = kernels_[uses_.KernelOf(uses[0])].serial != 0;
      if (rows && uses.size() > 1 && repeat > cost_.NearSeconds(u)) Keeps(u, how());
    }
    if (!reduce || uses.size() != 1) return "";
    // A reduce inside another one runs only as often in parallel as the outer kernel's results.
    const UOp* kernel = uses_.KernelOf(uses[0]);
    if (!options_.fuse && !kernels_[kernel].reduces.empty()) return "beside another reduce";
    const LoopSet serial = kernels_[kernel].serial;
    if (serial == 0 && CrowdsOut(u, kernel, size)) return "beside a reduce of other operands";
    const double parallel = uses_.Iterations(kernel, uses_.OuterLoops(kernel) & ~serial);
    if (uses_.Varies(uses[0]) & serial && cone.weight > kHeavyReduce) {
      return absl::StrCat("a sum of ", static_cast<int64_t>(cone.terms), " terms in a loop");
    }
    const double want = static_cast<double>(WantedParallelism(target_));
    const double items = parallel * cost_.RowItems(size / parallel);
    if (serial == 0 && items < want && size >= 4 * items && size * cone.weight > 1 << 16) {
      return absl::StrCat("computed with ", static_cast<int64_t>(items), " work-items otherwise");
    }
    return "";
  }

  // Whether the reduces that `u` holds are all behind what the one kernel that uses it keeps.
  bool IsMadeOfKept(const UOp* u) {
    if (!cost_.ConeOf(u).reduces) return false;
    const UseList& uses = node_uses_[u];
    const UOp* kernel = uses_.KernelOf(uses[0]);
    const bool one = std::all_of(uses.begin(), uses.end(),
                                 [&](UseId use) { return uses_.KernelOf(use) == kernel; });
    asked_.push_back(MadeOfKept{u, one ? kernel : nullptr}.By(known_, cost_));
    return asked_.back().answer;
  }

  // Whether `u`, a reduce for each result of the kernel beside other reduces, had better be stored:
  // it reads nothing that they do, and they and it take so long that to store it is a small part of
  // either. Two products in one kernel share registers and caches, which costs more.
  bool CrowdsOut(const UOp* u, const UOp* kernel, double size) {
    constexpr double kSmallPart = 1.0 / 16;
    const auto& others = kernels_[kernel].reduces;
    if (others.empty() || size != cost_.Elements(kernel)) return false;
    const auto is_long = [&](const UOp* reduce) {
      const double seconds = cost_.ComputeSeconds(cost_.ConeOf(reduce), size);
      return cost_.StoreSeconds(u) < kSmallPart * seconds;
    };
    if (!is_long(u) || !llvm::all_of(others, is_long)) return false;
    NodeSet operands;
    bool few = ForEachOperand(u, [&](const UOp* s) { return operands.Insert(s), true; });
    for (const UOp* other : others) {
      few = few && ForEachOperand(other, [&](const UOp* s) { return !operands.Contains(s); });
    }
    return few;
  }

  // Calls see(node) for what the expression that a reduce goes over reads: memory and other
  // reduces. False: `see` said so, or the expression is large.
  template <typename F>
  bool ForEachOperand(const UOp* reduce, F&& see) const {
    constexpr int kLarge = 256;
    NodeSet seen;
    llvm::SmallVector<const UOp*, 32> stack = {reduce->src(0)};
    for (int steps = 0; !stack.empty(); ++steps) {
      const UOp* u = stack.pop_back_val();
      if (steps == kLarge) return false;
      if (!seen.Insert(u)) continue;
      if (IsElementwise(u->op)) {
        stack.append(u->srcs().begin(), u->srcs().end());
      } else if (IsMovement(u->op)) {
        stack.push_back(u->src(0));
      } else if (!IsConst(u) && u->op != Op::kIota && !see(u)) {
        return false;
      }
    }
    return true;
  }

  // Whether kernels that use a value so cannot be ones of the value's rows: there are several, or
  // one whose reduces vary along what the value repeats over.
  bool LosesRows(const UseList& uses) {
    const UOp* kernel = uses_.KernelOf(uses[0]);
    return std::any_of(uses.begin(), uses.end(), [&](UseId use) {
      const LoopSet repeats = uses_.OuterLoops(kernel) & ~uses_.Varies(use);
      return uses_.KernelOf(use) != kernel || (kernels_[kernel].reduced & repeats) != 0;
    });
  }

  // Whether `u`, which holds a reduce, can stay in the one kernel that uses it though the kernel
  // has more results than `u` has elements: a row of results that share a value is gone through by
  // one work-item or group, which computes the value once. That is worth less parallel work, up to
  // what storing would cost. If so, the kernel is made one of rows.
  // *repeated: it is not, since it would be computed more often than once for each of its elements.
  bool KeepsRows(const UOp* u, bool* repeated) {
    const UseList& uses = node_uses_[u];
    const UOp* kernel = uses_.KernelOf(uses[0]);
    LoopSet varies = 0;
    double evaluations = 0;
    bool one_kernel = true;
    for (size_t i = 0; i < uses.size(); ++i) {
      const UOp* user = uses_.KernelOf(uses[i]);
      one_kernel &= user == kernel;
      const bool seen = std::any_of(uses.begin(), uses.begin() + i, [&](UseId other) {
        return uses_.KernelOf(other) == user && uses_.Loops(other) == uses_.Loops(uses[i]);
      });
      if (seen) continue;
      varies |= uses_.Varies(uses[i]);
      evaluations += uses_.Iterations(user, uses_.ComputedIn(uses[i]));
    }
    if (evaluations > cost_.Elements(u)) {
      *repeated = !one_kernel || !CutsRows(u, kernel);
      return false;
    }
    if (!one_kernel) return false;
    KernelState& state = kernels_[kernel];
    const LoopSet outer = uses_.OuterLoops(kernel), serial = state.serial | (outer & ~varies);
    // The results of a product's tile are not to be gone through one after the other.
    if (state.reduced & serial) return false;
    const double parallel = uses_.Iterations(kernel, outer & ~serial);
    const double busy = cost_.Utilization(parallel, uses_.Iterations(kernel, serial));
    const double lost = cost_.ReduceSeconds(u, evaluations) * (1 / busy - 1);
    if (lost > cost_.StoreSeconds(u)) return false;
    state.serial = serial;
    return true;
  }

  // Whether `u`, which holds a reduce, can be computed once in the kernel of rows that uses it, and
  // kept there for all its uses: for each row, which are those loops that all uses go through in
  // step. If so, it is, and has one use.
  bool Keeps(const UOp* u, const std::string& reason) {
    if (!options_.keep || u->dtype.is_index()) return false;
    UseList& uses = node_uses_[u];
    const UOp* kernel = uses_.KernelOf(uses[0]);
    for (UseId use : uses) {
      if (uses_.KernelOf(use) != kernel) return false;
    }
    const LoopSet outer = uses_.OuterLoops(kernel);
    const Shape& shape = shapes_.Of(u);
    LoopSet in_step = 0;
    std::vector<int64_t> axes;  // that there is room for
    std::vector<const AxisLoops*> along;
    for (size_t k = 0; k < shape.size(); ++k) {
      if (shape[k].Is(1)) continue;
      along.clear();
      for (UseId use : uses) along.push_back(&uses_.Loops(use)[k]);
      if (!IsCountedAlike(shape[k], along, outer)) {
        axes.push_back(static_cast<int64_t>(k));
        continue;
      }
      for (const LoopDigit& d : along[0]->digits) in_step |= LoopBit(d.loop);
    }
    if (axes.empty()) return false;
    const LoopSet serial = kernels_[kernel].serial;
    if ((outer & ~in_step & ~serial) != 0) return false;
    const double room = cost_.Elements(u) / uses_.Iterations(kernel, in_step);
    if (room * static_cast<double>(ByteSize(u->dtype.scalar())) > cost_.RoomBytes()) return false;
    const double parallel = uses_.Iterations(kernel, outer & ~serial);
    if (cost_.KeepSeconds(u, parallel, room) > cost_.StoreSeconds(u)) return false;
    kept_[u] = {kernel, reason};
    keeps_ |= !known_.kept.Contains(u);
    findings_.kept.Insert(u);
    findings_.keepers.Insert(kernel);
    const UseId first = uses[0];
    uses.clear();
    uses.push_back(uses_.Staged(first, u, axes));
    return true;
  }

  // Whether `u`, each time it is used, varies over parts of the kernel's axes alone, and so little
  // that it is computed once an element. Then those parts are to be axes.
  bool CutsRows(const UOp* u, const UOp* kernel) {
    std::vector<LoopDigit> digits;
    double evaluations = 0;
    for (UseId use : node_uses_[u]) {
      double iterations = 1;
      std::vector<LoopDigit> own;
      for (const AxisLoops& axis : uses_.Loops(use)) {
        if (!axis.exact) return false;
        for (const LoopDigit& d : axis.digits) {
          if (std::find(own.begin(), own.end(), d) != own.end()) continue;
          own.push_back(d);
          iterations *= static_cast<double>(d.size);
        }
      }
      evaluations += own == digits ? 0 : iterations;
      digits.insert(digits.end(), own.begin(), own.end());
    }
    if (evaluations > cost_.Elements(u)) return false;
    const Shape& whole = shapes_.Of(kernel);
    Shape& rows = findings_.rows[kernel];
    Shape cut = CutAtDigits(rows.empty() ? whole : rows, digits);
    if (cut == (rows.empty() ? whole : rows)) return false;
    rows = std::move(cut);
    cuts_ = true;
    return true;
  }

  void AddUse(const UOp* u, UseId use) {
    UseList& uses = node_uses_[u];
    if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
  }

  void Propagate(const UOp* u) {
    for (UseId use : node_uses_[u]) {
      if (u->op == Op::kContiguous) {
        AddUse(u->src(0), use);
      } else if (u->op == Op::kAssign) {
        AddUse(u->src(1), use);
      } else if (u->op == Op::kReduceAxis) {
        AddUse(u->src(0), uses_.Inside(use, u));
      } else if (u->op == Op::kPad && uses_.ReadsPadding(use, u)) {
        continue;  // each element of a stack of values is a sum of all of them, padded
      } else if (IsMovement(u->op)) {
        AddUse(u->src(0), uses_.Through(use, u));
      } else if (IsElementwise(u->op)) {
        for (const UOp* s : u->srcs()) AddUse(s, use);
      }
    }
  }

  // Ways in which a value may be used that is computed anew in each.
  static constexpr size_t kMaxUses = 256;
  // A reduce of more operations than this is not left to a loop of a work-item.
  static constexpr double kHeavyReduce = 64;

  const Body& body_;
  UOpSpan order_;
  ShapeMap& shapes_;
  UseTable& uses_;
  const Target& target_;
  CostModel& cost_;
  const RealizeOptions& options_;
  const Findings& known_;
  NodeSet fused_;            // their users are visited first
  NodeMap<uint32_t> users_;  // of copies between devices
  NodeSet assigned_;         // copies that go to an assign's target and nowhere else
  NodeMap<UseList>& read_uses_;
  NodeMap<UseList> node_uses_;
  NodeMap<KernelState> kernels_;
  Findings findings_;
  std::vector<MadeOfKept> asked_;
  bool cuts_ = false, keeps_ = false;
  llvm::DenseMap<const UOp*, Kept> kept_;
  Reasons reasons_;
};

}  // namespace

MadeOfKept MadeOfKept::By(const Findings& known, const CostModel& cost) const {
  MadeOfKept out{node, kernel};
  out.answer = kernel && cost.ConeOf(node).reduces && !cost.ConeAboveKept(node).reduces &&
               known.keepers.Contains(kernel);
  if (out.answer) out.above = cost.ConeAboveKept(node);
  return out;
}

PlannedRound PlanRound(const Body& body, UOpSpan order, ShapeMap& shapes, UseTable& uses,
                       const Target& target, CostModel& cost, const RealizeOptions& options,
                       const Reasons& forced, const Findings& known, const NodeSet& fused,
                       NodeMap<UseList>& read_uses) {
  Planner planner(body, order, shapes, uses, target, cost, options, forced, known, fused,
                  read_uses);
  PlannedRound round;
  round.plan = planner.Run();
  planner.MoveTo(round);
  return round;
}

}  // namespace tg
