#include "passes/kernelize/realize.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "passes/analysis/kernel_axes.h"

namespace tg {
namespace {

// What an op costs beside an addition, for weighing recomputation.
double OpWeight(Op op) {
  switch (op) {
    case Op::kExp2:
    case Op::kLog2:
    case Op::kSin:
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kCDiv:
    case Op::kCMod:
      return 16;
    case Op::kSqrt:
    case Op::kRecip:
    case Op::kDiv:
      return 6;
    case Op::kPow:
    case Op::kThreefry:
      return 60;
    default:
      return 1;
  }
}

struct NodeUse {
  UseId id;
  double evaluations;
};

// Bottom-up facts about the expression above stored nodes that a node stands for.
struct Cone {
  double weight = 0;     // operations an element, shared nodes counted as often as they are used
  bool reduces = false;  // holds a reduce that no expand would store anyway
};

class Planner {
 public:
  Planner(const Module& module, const Body& body, ShapeMap& shapes, UseTable& uses,
          const Target& target, const NodeMap<std::string>& forced,
          NodeMap<std::vector<UseId>>& read_uses)
      : module_(module),
        body_(body),
        shapes_(shapes),
        uses_(uses),
        target_(target),
        read_uses_(read_uses),
        order_(PostOrder(body.root)),
        reasons_(forced) {}

  RealizePlan Run() {
    ComputeCones();
    for (const UOp* root : body_.root->srcs()) {
      if (!IsStored(root)) reasons_[root] = "result of the graph";
    }
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) Visit(*it);
    RealizePlan plan;
    for (const UOp* u : order_) {
      if (reasons_.Get(u).empty()) continue;
      plan.realized.push_back({u, reasons_[u]});
      plan.number[u] = static_cast<int>(plan.realized.size());
    }
    return plan;
  }

 private:
  double Size(const UOp* u) {
    double n = 1;
    for (const Dim& d : shapes_.Of(u)) {
      n *= static_cast<double>(MaxExtent(module_, *body_.context, d));
    }
    return n;
  }

  void ComputeCones() {
    for (const UOp* u : order_) {
      Cone& cone = cones_[u];
      if (IsStored(u) || u->op == Op::kContiguous || u->op == Op::kAssign) continue;
      if (IsElementwise(u->op)) cone.weight = OpWeight(u->op);
      for (const UOp* s : u->srcs()) {
        const Cone source = cones_[s];
        cone.weight = std::min(cone.weight + source.weight, 1e9);
        cone.reduces |= source.reduces;
      }
      if (u->op == Op::kReduceAxis) {
        cone.reduces = true;
        cone.weight = std::min((cone.weight + 1) * Size(u->src(0)) / std::max(1.0, Size(u)), 1e12);
      }
      // Beneath an expand that repeats, reduces are stored: above it, they are read.
      const bool repeats = u->op == Op::kExpand && Size(u) > Size(u->src(0));
      if (repeats && cone.reduces) cone = {};
    }
  }

  void Visit(const UOp* u) {
    if (u->op == Op::kSink) return;
    if (IsStored(u)) {
      std::vector<UseId>& reads = read_uses_[u];
      for (const NodeUse& use : node_uses_[u]) reads.push_back(use.id);
      // What an op that is no kernel reads must be stored.
      if (u->op == Op::kCopy || u->op == Op::kBufferView) Force(u->src(0), "source of a copy");
      if (u->op == Op::kBufferView || u->op == Op::kAfter || u->op == Op::kAssign) {
        for (const UOp* s : u->srcs()) Force(s, "written in place");
      }
      return;
    }
    if (u->op == Op::kContiguous) reasons_[u] = "contiguous";
    if (u->op == Op::kAssign) reasons_[u] = "assign";
    if (reasons_[u].empty()) reasons_[u] = Decide(u);
    if (!reasons_[u].empty()) {
      for (const NodeUse& use : node_uses_[u]) read_uses_[u].push_back(use.id);
      node_uses_[u] = {{uses_.Root(u), Size(u)}};
    }
    Propagate(u);
  }

  void Force(const UOp* u, std::string_view reason) {
    if (!IsStored(u) && u->op != Op::kKernel && u->dtype != kVoid && reasons_[u].empty()) {
      reasons_[u] = std::string(reason);
    }
  }

  // Why `u` is stored; empty: it is not.
  std::string Decide(const UOp* u) {
    const bool reduce = u->op == Op::kReduceAxis;
    const std::vector<NodeUse>& uses = node_uses_[u];
    if (uses.empty() || (!reduce && !IsElementwise(u->op))) return "";
    double evaluations = 0;
    for (const NodeUse& use : uses) evaluations += use.evaluations;
    const double size = Size(u);
    const Cone& cone = cones_[u];
    if (uses.size() > 1 || evaluations > size) {
      const std::string how =
          absl::StrCat("used in ", uses.size(), uses.size() == 1 ? " way, " : " ways, ",
                       static_cast<int64_t>(evaluations), " times for ", static_cast<int64_t>(size),
                       " elements");
      if (cone.reduces && cone.weight > kFreeReduce) return how;
      // Repeat the work, or write the value once and read it.
      const double bytes = static_cast<double>(ByteSize(u->dtype.scalar()));
      const double repeat = (evaluations - size) * cone.weight / target_.flops_per_second;
      const double store = 2 * size * bytes / target_.bytes_per_second + kLaunchSeconds;
      if (repeat > store) return how;
    }
    // A reduce inside another one runs only as often in parallel as the outer kernel's results.
    if (reduce && uses.size() == 1) {
      const double parallel = Size(uses_.KernelOf(uses[0].id));
      const double want = static_cast<double>(WantedParallelism(target_));
      if (parallel < want && size >= 4 * parallel && size * cone.weight > 1 << 16) {
        return absl::StrCat("computed with ", static_cast<int64_t>(parallel),
                            " work-items otherwise");
      }
    }
    return "";
  }

  void AddUse(const UOp* u, NodeUse use) {
    for (NodeUse& have : node_uses_[u]) {
      if (have.id == use.id) {
        have.evaluations = std::max(have.evaluations, use.evaluations);
        return;
      }
    }
    node_uses_[u].push_back(use);
  }

  void Propagate(const UOp* u) {
    const std::vector<NodeUse> uses = node_uses_[u];
    for (const NodeUse& use : uses) {
      if (u->op == Op::kContiguous) {
        AddUse(u->src(0), use);
      } else if (u->op == Op::kAssign) {
        AddUse(u->src(1), use);
      } else if (u->op == Op::kReduceAxis) {
        const double terms = Size(u->src(0)) / std::max(1.0, Size(u));
        AddUse(u->src(0), {uses_.Inside(use.id, u), use.evaluations * terms});
      } else if (IsMovement(u->op)) {
        AddUse(u->src(0), {uses_.Through(use.id, u), use.evaluations});
      } else if (IsElementwise(u->op)) {
        for (const UOp* s : u->srcs()) AddUse(s, use);
      }
    }
  }

  // A reduce of fewer operations an element than this is repeated rather than stored, if it pays.
  static constexpr double kFreeReduce = 4;
  static constexpr double kLaunchSeconds = 5e-6;

  const Module& module_;
  const Body& body_;
  ShapeMap& shapes_;
  UseTable& uses_;
  const Target& target_;
  NodeMap<std::vector<UseId>>& read_uses_;
  std::vector<const UOp*> order_;
  NodeMap<Cone> cones_;
  NodeMap<std::vector<NodeUse>> node_uses_;
  NodeMap<std::string> reasons_;
};

// Adds to `forced` nodes that must be stored so that no kernel reads more than `limit` buffers.
// True where it added any.
bool LimitInputs(const Body& body, const RealizePlan& plan, size_t limit,
                 NodeMap<std::string>& forced) {
  using Ids = std::vector<uint32_t>;
  NodeMap<Ids> leaves;  // what the kernel that computes the node in place reads
  bool added = false;
  const auto reads = [&](const UOp* s) {
    return IsStored(s) || plan.IsRealized(s) || !forced.Get(s).empty() ? Ids{s->id} : leaves.Get(s);
  };
  for (const UOp* u : PostOrder(body.root)) {
    if (IsStored(u) || u->op == Op::kSink) continue;
    while (true) {
      Ids all;
      const UOp* widest = nullptr;
      for (const UOp* s : u->srcs()) {
        const Ids ids = reads(s);
        Ids merged;
        std::set_union(all.begin(), all.end(), ids.begin(), ids.end(), std::back_inserter(merged));
        all = std::move(merged);
        const bool splits = ids.size() > 1 && !IsMovement(s->op);
        if (splits && (!widest || ids.size() > leaves.Get(widest).size())) widest = s;
      }
      if (all.size() <= limit || !widest) {
        leaves[u] = std::move(all);
        break;
      }
      forced[widest] = absl::StrCat("a kernel reads at most ", limit, " buffers");
      added = true;
    }
  }
  return added;
}

}  // namespace

int64_t WantedParallelism(const Target& target) {
  return int64_t{target.compute_units} * (target.is_gpu ? 256 : 4);
}

bool IsStored(const UOp* u) {
  switch (u->op) {
    case Op::kBuffer:
    case Op::kAfter:
    case Op::kBufferView:
    case Op::kCopy:
      return true;
    case Op::kAssign:
      return u->src(1)->op == Op::kKernel;
    default:
      return false;
  }
}

const UOp* ComputedValue(const UOp* u) {
  if (u->op == Op::kContiguous) return u->src(0);
  if (u->op == Op::kAssign) return u->src(1);
  return u;
}

RealizePlan PlanRealize(const Module& module, const Body& body, ShapeMap& shapes, UseTable& uses,
                        const Target& target, int64_t max_inputs,
                        NodeMap<std::vector<UseId>>& read_uses) {
  NodeMap<std::string> forced;
  while (true) {
    read_uses = {};
    RealizePlan plan = Planner(module, body, shapes, uses, target, forced, read_uses).Run();
    if (max_inputs == 0 || !LimitInputs(body, plan, static_cast<size_t>(max_inputs), forced)) {
      return plan;
    }
  }
}

}  // namespace tg
