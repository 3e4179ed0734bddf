#include "passes/kernelize/kernelize.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "ir/check.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/structural_key.h"
#include "passes/kernelize/hazards.h"
#include "passes/kernelize/hoist.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/placement.h"
#include "passes/kernelize/prepare.h"
#include "passes/kernelize/realize.h"
#include "passes/kernelize/siblings.h"

namespace tg {
namespace {

// The kernels of a module, by structure.
class KernelPool {
 public:
  explicit KernelPool(Module& module) : module_(module) {
    for (const auto& k : module.kernels) {
      names_.insert(k->name);
      if (k->stage == Stage::kKernel && k->opts.empty()) by_key_[StructuralKey(k->body)] = k->name;
    }
  }

  // Adds the kernel, or finds the equal one that is there. Returns its name.
  std::string Add(std::unique_ptr<Kernel> kernel, PassContext& context) {
    std::string key = StructuralKey(kernel->body);
    const auto found = by_key_.find(key);
    if (found != by_key_.end()) {
      ++context.statistics["kernelize.equal-kernels"];
      return found->second;
    }
    ShapeMap shapes(module_, *kernel->body.context);
    kernel->axes = ToAxes(BaseAxes(module_, *kernel, shapes));
    const std::string name = UniqueKernelName(KernelName(kernel->axes), key, names_);
    names_.insert(name);
    kernel->name = name;
    by_key_[std::move(key)] = name;
    module_.kernels.push_back(std::move(kernel));
    ++context.statistics["kernelize.kernels"];
    return name;
  }

 private:
  Module& module_;
  std::map<std::string, std::string> by_key_;
  std::set<std::string> names_;
};

// The graph over buffers: an assign of a kernel for each draft.
class Assembler {
 public:
  Assembler(Module& module, Graph& graph, ShapeMap& shapes, const RealizePlan& plan,
            Placement& placement, std::vector<KernelDraft> drafts, WriteAfterRead order,
            KernelPool& pool, PassContext& context)
      : module_(module),
        graph_(graph),
        body_(graph.body),
        shapes_(shapes),
        plan_(plan),
        placement_(placement),
        drafts_(std::move(drafts)),
        order_(std::move(order)),
        pool_(pool),
        context_(context),
        b_(*body_.context) {
    for (const BufferDecl& decl : module_.buffers) buffer_names_.insert(decl.name);
    for (size_t i = 0; i < drafts_.size(); ++i) {
      for (const UOp* u : drafts_[i].nodes) draft_of_[u] = static_cast<int>(i) + 1;
    }
  }

  void Run() {
    std::vector<const UOp*> roots;
    for (const UOp* r : body_.root->srcs()) {
      Emit(r);
      roots.push_back(map_.Get(r));
    }
    body_.root = b_.Sink(roots);
    Compact(body_);
  }

 private:
  // What must be emitted before `u`.
  std::vector<const UOp*> Dependencies(const UOp* u) {
    std::vector<const UOp*> out;
    if (const int number = draft_of_.Get(u)) {
      const KernelDraft& d = drafts_[static_cast<size_t>(number) - 1];
      out = d.inputs;
      for (size_t n = 0; n < d.nodes.size(); ++n) {
        if (d.targets[n]) out.push_back(d.targets[n]);
        AppendOrdering(d.nodes[n], out);
      }
      for (const UOp* v : d.vars) out.push_back(v);
      for (size_t r : order_.drafts[static_cast<size_t>(number) - 1])
        out.push_back(drafts_[r].nodes[0]);
      return out;
    }
    out.assign(u->srcs().begin(), u->srcs().end());
    for (size_t r : order_.stored.Get(u)) out.push_back(drafts_[r].nodes[0]);
    return out;
  }

  // What an assign in the graph already waits for.
  static void AppendOrdering(const UOp* u, std::vector<const UOp*>& out) {
    if (u->op == Op::kAssign) out.insert(out.end(), u->srcs().begin() + 2, u->srcs().end());
  }

  void Emit(const UOp* root) {
    std::vector<const UOp*> stack = {root};
    while (!stack.empty()) {
      const UOp* u = stack.back();
      if (map_.Get(u)) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      for (const UOp* d : Dependencies(u)) {
        if (!map_.Get(d)) stack.push_back(d);
      }
      if (stack.size() != before) continue;
      stack.pop_back();
      const int number = draft_of_.Get(u);
      if (number) {
        EmitDraft(static_cast<size_t>(number) - 1);
      } else {
        map_[u] = EmitStored(u);
        body_.CarryOver(u, map_[u]);
      }
    }
  }

  const UOp* EmitStored(const UOp* u) {
    std::vector<const UOp*> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(map_.Get(s));
    for (size_t r : order_.stored.Get(u)) {
      const UOp* reader = map_.Get(drafts_[r].nodes[0]);
      if (std::find(srcs.begin() + 2, srcs.end(), reader) == srcs.end()) srcs.push_back(reader);
    }
    return b_.context().Rebuild(u, b_.context(), srcs);
  }

  // The assigns that store what the draft does.
  void EmitDraft(size_t i) {
    KernelDraft& d = drafts_[i];
    std::vector<const UOp*> operands;
    for (size_t n = 0; n < d.nodes.size(); ++n) {
      const UOp* target = d.targets[n];
      operands.push_back(target ? WholeBuffer(map_.Get(target)) : NewBuffer(d.nodes[n]));
    }
    const UOp* k = d.copy ? EmitCopy(d) : EmitKernel(d, operands);
    for (size_t n = 0; n < d.nodes.size(); ++n) {
      const UOp* u = d.nodes[n];
      const UOp* out = operands[n];
      std::vector<const UOp*> srcs = {d.targets[n] ? EmitTarget(u->src(0), out) : out, k};
      std::vector<const UOp*> before;
      AppendOrdering(u, before);
      for (const UOp* w : before) srcs.push_back(map_.Get(w));
      for (size_t r : order_.drafts[i]) srcs.push_back(map_.Get(drafts_[r].nodes[0]));
      map_[u] = b_.context().Make(Op::kAssign, out->dtype, srcs);
      body_.CarryOver(u, map_[u]);
    }
  }

  const UOp* EmitCopy(const KernelDraft& d) {
    ++context_.statistics["kernelize.device-copies"];
    return b_.context().Make(Op::kCopy, d.copy->dtype, {map_.Get(d.inputs[0])}, d.copy->attr);
  }

  // A run of the draft's kernel. `outputs`: its first operands.
  const UOp* EmitKernel(KernelDraft& d, const std::vector<const UOp*>& outputs) {
    std::vector<const UOp*> operands = outputs;
    for (const UOp* in : d.inputs) operands.push_back(WholeBuffer(map_.Get(in)));
    for (const UOp* v : d.vars) operands.push_back(map_.Get(v));
    const std::string name = KernelOf(d);
    return b_.context().Make(Op::kKernel, kVoid, operands, {uint64_t{b_.context().Intern(name)}});
  }

  // The name of the draft's kernel, which is added to the module unless an equal one is there.
  std::string KernelOf(KernelDraft& d) {
    if (const auto known = by_draft_.find(d.key); known != by_draft_.end()) {
      ++context_.statistics["kernelize.equal-kernels"];
      return known->second;
    }
    BuildKernel(module_, body_, shapes_, plan_, d);
    std::string name = pool_.Add(std::move(d.kernel), context_);
    if (!d.key.empty()) by_draft_.emplace(d.key, name);
    return name;
  }

  // A kernel is run on whole buffers: after an assign to a view, the buffer that it is a view of.
  const UOp* WholeBuffer(const UOp* version) {
    if (version->op != Op::kAssign || !IsMovement(version->src(0)->op)) return version;
    return b_.After(WholeBuffer(TargetVersion(version->src(0))), UOpSpan(&version, 1));
  }

  // An assign's target over `version`: the movement ops that make a view of it.
  const UOp* EmitTarget(const UOp* target, const UOp* version) {
    std::vector<const UOp*> movement;
    for (; IsMovement(target->op); target = target->src(0)) movement.push_back(target);
    const UOp* to = version;
    for (size_t i = movement.size(); i-- > 0;) {
      std::vector<const UOp*> srcs(movement[i]->srcs().begin(), movement[i]->srcs().end());
      srcs[0] = to;
      to = b_.context().Rebuild(movement[i], b_.context(), srcs);
    }
    return to;
  }

  // A temp buffer of the node's shape; a symbolic shape that no declaration can state is flat.
  const UOp* NewBuffer(const UOp* u) {
    BufferDecl decl;
    do {
      decl.name = absl::StrCat("t", next_buffer_++);
    } while (buffer_names_.contains(decl.name));
    decl.dtype = u->dtype;
    decl.role = Role::kTemp;
    decl.device = placement_.Name(placement_.Of(u));
    int64_t size = 1;
    bool stated = true;
    for (const Dim& d : shapes_.Of(u)) {
      const int64_t max = MaxExtent(module_, b_.context(), d);
      size *= max;
      if (!d.is_symbolic()) {
        decl.shape.push_back({d.value(), ""});
      } else if (d.symbol()->op == Op::kVar) {
        const auto name = static_cast<StringId>(d.symbol()->attr.bits);
        decl.shape.push_back({0, std::string(b_.context().String(name))});
      } else {
        stated = false;
      }
    }
    if (!stated) decl.shape = {{size, ""}};
    const UOp* buffer = b_.Buffer(decl.name, u->dtype);
    module_.buffers.push_back(std::move(decl));
    return buffer;
  }

  Module& module_;
  Graph& graph_;
  Body& body_;
  ShapeMap& shapes_;
  const RealizePlan& plan_;
  Placement& placement_;
  std::vector<KernelDraft> drafts_;
  WriteAfterRead order_;
  KernelPool& pool_;
  PassContext& context_;
  Builder b_;
  std::unordered_map<std::string, std::string> by_draft_;  // kernels' names by key
  std::unordered_set<std::string> buffer_names_;           // of the module before this graph
  NodeMap<int> draft_of_;
  NodeMap<const UOp*> map_;
  int next_buffer_ = 0;
};

// A line for each value that a kernel stores, or keeps for itself.
void Explain(const Module& module, const Graph& graph, const KernelDraft& draft,
             const RealizePlan& plan, PassContext& context) {
  std::string name = "a copy";
  if (!draft.copy) {
    ShapeMap shapes(module, *draft.kernel->body.context);
    name = KernelName(ToAxes(BaseAxes(module, *draft.kernel, shapes)));
  }
  const std::vector<const UOp*> order =
      plan.kept.empty() ? std::vector<const UOp*>() : PostOrder(graph.body.root);
  for (const UOp* u : draft.nodes) {
    const Realized& r = plan.realized[static_cast<size_t>(plan.number.Get(u)) - 1];
    absl::StrAppend(&context.remarks, "kernelize: @", graph.name, ": stored ",
                    std::string(Mnemonic(u->op)), " by ", name, ": ", r.reason, "\n");
    for (const UOp* kept : order) {
      const auto it = plan.kept.find(kept);
      if (it == plan.kept.end() || it->second.kernel != u) continue;
      absl::StrAppend(&context.remarks, "kernelize: @", graph.name, ": kept ",
                      std::string(Mnemonic(kept->op)), " inside ", name, ": ", it->second.reason,
                      "\n");
    }
  }
}

size_t CountVersions(const Body& body) {
  const std::vector<const UOp*> order = PostOrder(body.root);
  return static_cast<size_t>(std::count_if(order.begin(), order.end(), IsVersion));
}

// `hoister`: of what is computed once; null: nothing is.
absl::Status KernelizeGraph(Module& module, Graph& graph, Hoister* hoister, KernelPool& pool,
                            PassContext& context) {
  Body& body = graph.body;
  ShapeMap shapes(module, *body.context);
  NodeSet fused;
  if (absl::Status s = PrepareGraph(module, body, shapes, context.target, fused); !s.ok()) return s;
  std::string moved;
  if (hoister) hoister->Run(graph, shapes, fused, moved);
  // An assign that cannot be done in place is sent through a buffer; then everything is planned
  // anew.
  const RealizeOptions options = {context.Int("max-inputs"), context.Flag("fuse"),
                                  context.Flag("keep")};
  // Each round but the last one sends an assign through a buffer or lets readers of a version read
  // a copy, does neither twice to one node, and makes no more of either.
  const size_t most = 2 * CountVersions(body) + 1;
  for (size_t round = 0;; ++round) {
    TG_CHECK(round < most);
    Placement placement(module, body);
    UseTable uses(module, *body.context, shapes);
    NodeMap<UseList> read_uses;
    const RealizePlan plan =
        PlanRealize(module, body, shapes, uses, context.target, options, fused, read_uses);
    std::vector<KernelDraft> drafts;
    for (const Realized& r : plan.realized) {
      drafts.push_back(DraftKernel(module, body, shapes, plan, {r.node}));
    }
    WriteAfterRead order = FindHazards(body, drafts, placement, uses, read_uses);
    if (absl::Status s = CheckCopies(body, order, context.Flag("copies")); !s.ok()) return s;
    if (order.Copies()) {
      CopyThroughBuffers(body, order, fused);
      FuseEverywhere(module, body, fused);
      context.statistics["kernelize.copies"] +=
          static_cast<int64_t>(order.copied.size() + order.snapshots.size());
      continue;
    }
    const std::vector<std::vector<size_t>> groups =
        FindSiblings(drafts, plan, order, placement, shapes, context.target, options);
    const bool explain = context.Flag("explain");
    if (explain) context.remarks += moved;
    std::vector<KernelDraft> kernels;
    for (const std::vector<size_t>& group : groups) {
      if (group.size() == 1) {
        kernels.push_back(std::move(drafts[group[0]]));
      } else {
        std::vector<const UOp*> nodes;
        for (size_t i : group) nodes.push_back(plan.realized[i].node);
        kernels.push_back(DraftKernel(module, body, shapes, plan, std::move(nodes)));
      }
      if (explain) {
        if (!kernels.back().copy) BuildKernel(module, body, shapes, plan, kernels.back());
        Explain(module, graph, kernels.back(), plan, context);
      }
    }
    order = OrderOfGroups(groups, order);
    Assembler(module, graph, shapes, plan, placement, std::move(kernels), std::move(order), pool,
              context)
        .Run();
    return absl::OkStatus();
  }
}

absl::Status Run(Module& module, PassContext& context) {
  KernelPool pool(module);
  Hoister hoister(module, context.target);
  for (const auto& graph : module.graphs) {
    if (graph->name == kInitGraph) continue;
    Hoister* own = context.Flag("init") ? &hoister : nullptr;
    if (absl::Status s = KernelizeGraph(module, *graph, own, pool, context); !s.ok()) return s;
  }
  hoister.Finish();
  Graph* init = module.FindGraph(kInitGraph);
  return init ? KernelizeGraph(module, *init, nullptr, pool, context) : absl::OkStatus();
}

constexpr PassOption kOptions[] = {
    {"max-inputs", PassOption::Kind::kInt, "64",
     "buffers that one kernel reads at most; 0: no limit"},
    {"init", PassOption::Kind::kFlag, "true",
     "computes what no input reaches once, in graph @init"},
    {"fuse", PassOption::Kind::kFlag, "true",
     "lets a kernel hold several reduces, and store several values; off: one of each"},
    {"keep", PassOption::Kind::kFlag, "true",
     "keeps values that a kernel reads in several ways in memory of its own"},
    {"copies", PassOption::Kind::kFlag, "true",
     "sends an assign that cannot write in place through a buffer; off: it is an error"},
    {"explain", PassOption::Kind::kFlag, "false", "says why each buffer is stored"},
};

}  // namespace

constinit const Pass kKernelizePass = {
    "kernelize", "makes kernels of a tensor graph: what is fused, stored, and in which order",
    kOptions, Run};

}  // namespace tg
