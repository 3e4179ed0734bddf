#include "passes/kernelize/kernelize.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "ir/measure.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/kernelize/assemble.h"
#include "passes/kernelize/byte_products.h"
#include "passes/kernelize/concatenate.h"
#include "passes/kernelize/convolution_forms.h"
#include "passes/kernelize/gathers.h"
#include "passes/kernelize/hazards.h"
#include "passes/kernelize/hoist.h"
#include "passes/kernelize/in_place_groups.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/kernel_pool.h"
#include "passes/kernelize/lane_rows.h"
#include "passes/kernelize/lower_loops.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/online_softmax.h"
#include "passes/kernelize/placement.h"
#include "passes/kernelize/predicted_moves.h"
#include "passes/kernelize/predicted_plan.h"
#include "passes/kernelize/prepare.h"
#include "passes/kernelize/requirements.h"
#include "passes/kernelize/row_softmax.h"
#include "passes/kernelize/share_kernels.h"
#include "passes/kernelize/siblings.h"
#include "passes/kernelize/stacked_products.h"
#include "passes/kernelize/term_runs.h"
#include "passes/kernelize/versions.h"

namespace tg::kernelize {
namespace {

// For each realized node: the values that its kernel stages, sources first.
NodeMap<std::vector<const UOp*>> StagedByKernel(const Body& body, const MaterializationPlan& plan) {
  NodeMap<std::vector<const UOp*>> out;
  if (plan.staged.empty()) return out;
  for (const UOp* u : PostOrder(body.root)) {
    if (const auto it = plan.staged.find(u); it != plan.staged.end())
      out[it->second.kernel].push_back(u);
  }
  return out;
}

// Adds a line to the remarks for each value that a kernel stores or stages.
void Explain(const Module& module, const Graph& graph, const KernelDraft& draft,
             const MaterializationPlan& plan, const NodeMap<std::vector<const UOp*>>& staged,
             passes::PassContext& context) {
  std::string name = "a copy";
  if (!draft.copy) {
    ShapeMap shapes(module, *draft.kernel->body.context);
    name = analysis::KernelName(analysis::ToAxes(
        analysis::BaseAxes(module, *draft.kernel, shapes, draft.kernel->body.Order())));
  }
  for (const UOp* u : draft.nodes) {
    const Realized& r = plan.Of(u);
    absl::StrAppend(&context.remarks, "kernelize: @", graph.name, ": stored ",
                    std::string(Mnemonic(u->op)), " by ", name, ": ", r.reason.text, "\n");
    for (const UOp* k : staged.Get(u)) {
      absl::StrAppend(&context.remarks, "kernelize: @", graph.name, ": kept ",
                      std::string(Mnemonic(k->op)), " inside ", name, ": ",
                      plan.staged.find(k)->second.reason, "\n");
    }
  }
}

// A kernel that uses a measured variable has its bind as an operand, so that it runs after that.
void WaitForMeasures(const UOp* sink, KernelDraft& draft) {
  for (const UOp*& v : draft.vars) {
    for (const UOp* root : sink->srcs()) {
      if (IsMeasure(root) && root->src(0) == v) v = root;
    }
  }
}

size_t CountVersions(UOpSpan order) {
  return static_cast<size_t>(std::count_if(order.begin(), order.end(), IsVersion));
}

// The predicted seconds of a module of one graph, as bounds plan its kernels.
double PredictGraph(Module& module, bool moves, const passes::PassContext& context) {
  Graph& graph = *module.graphs[0];
  Body& body = graph.body;
  ShapeMap shapes(module, *body.context);
  NodeSet fused;
  RootOrder order(body);
  if (!PrepareGraph(module, body, shapes, context.target, fused, order).ok()) {
    return std::numeric_limits<double>::infinity();
  }
  LayTermsInRuns(module, body, shapes, context.target, fused, order.Get());
  StoreGathered(module, body, shapes, fused, order.Get());
  std::string moved;
  if (moves) Hoister(module, context.target).Run(graph, shapes, fused, moved, order.Get());
  const MaterializationOptions options = {context.Int("max-inputs"), context.Flag("fuse"),
                                          context.Flag("keep")};
  const JointAssigns joint;
  const PlannedGraph planned = {module,         body,    order.Get(), shapes,
                                context.target, options, fused,       joint};
  return PlanPredictor(planned, context.workers).Plan({}).seconds;
}

// `hoister` moves values that are computed once to @init; null: no value is moved.
// `is_repeated`: the graph is a loop's body.
absl::Status KernelizeGraph(Module& module, Graph& graph, bool is_repeated, Hoister* hoister,
                            KernelPool& pool, passes::PassContext& context) {
  Body& body = graph.body;
  ShapeMap shapes(module, *body.context);
  NodeSet fused;
  RootOrder order(body);
  AddRequirements(module, body, shapes, order.Get());
  if (absl::Status s = PrepareGraph(module, body, shapes, context.target, fused, order); !s.ok()) {
    return s;
  }
  std::string moved;
  const auto predict = [&](Module& alone) {
    return PredictGraph(alone, hoister != nullptr, context);
  };
  if (context.Flag("fuse")) {
    const PredictedGraph predicted = {module, body, shapes, context.target, predict, fused, moved};
    ChooseConvolutionForms(predicted, order.Get());
    if (hoister) StackProducts(predicted, order.Get());
  }
  MakeByteProducts(module, body, shapes, context.target, fused, order.Get());
  LayTermsInRuns(module, body, shapes, context.target, fused, order.Get());
  StoreGathered(module, body, shapes, fused, order.Get());
  if (hoister)
    LayLanesInRows(module, body, shapes, context.target, is_repeated, fused, order.Get());
  if (hoister) hoister->Run(graph, shapes, fused, moved, order.Get());
  NodeSet pieces;
  if (context.Flag("fuse")) {
    context.statistics["kernelize.online-softmaxes"] +=
        FuseOnlineSoftmaxes(module, body, shapes, context.target, fused, order.Get());
    context.statistics["kernelize.row-softmaxes"] +=
        FuseRowSoftmaxes(module, body, shapes, context.target, fused, order.Get());
    pieces = WriteConcatenations(module, body, shapes, context.target, fused, order.Get());
  }
  // If an assign cannot write in place, its value goes through a separate buffer, and everything is
  // planned again.
  const MaterializationOptions options = {context.Int("max-inputs"), context.Flag("fuse"),
                                          context.Flag("keep")};
  // The number of rounds is bounded: each round except the last one adds a buffer for an assign or
  // a copy of a version, and does so at most once for each node.
  const size_t most = 2 * CountVersions(order.Get()) + 1;
  const auto find_joint = [&] {
    if (!options.fuse) return JointAssigns();
    Placement placement(module, body, order.Get());
    return JointAssigns(order.Get(), shapes, placement, context.target);
  };
  JointAssigns joint = find_joint();
  const FusionChoices choices = FindPredictedMoves(
      {module, body, order.Get(), shapes, context.target, options, fused, joint}, context.workers);
  for (size_t round = 0;; ++round) {
    TG_CHECK(round < most);
    Placement placement(module, body, order.Get());
    UseTable uses(module, *body.context, shapes);
    NodeMap<UseList> read_uses;
    const MaterializationPlan plan = PlanMaterialization(
        {module, body, order.Get(), shapes, context.target, options, fused, joint}, choices, uses,
        read_uses);
    DraftNumbers numbers;
    std::vector<KernelDraft> drafts;
    for (const Realized& r : plan.realized) {
      if (joint.LeaderOf(r.node) != r.node) continue;
      drafts.push_back(DraftKernel(module, body, shapes, plan, joint.Members(r.node), numbers));
      WaitForMeasures(body.root, drafts.back());
    }
    const auto may_join = [&](const std::vector<size_t>& members) {
      return options.fuse && CanUpdateTogether(drafts, members, placement, shapes, kMaxSiblings,
                                               options.max_inputs);
    };
    WriteAfterRead waits = FindHazards(drafts, placement, uses, read_uses, order.Get(), may_join);
    if (absl::Status s = CheckCopies(body, waits, context.Flag("copies"), context.Flag("cycles"));
        !s.ok()) {
      return s;
    }
    if (waits.Copies()) {
      CopyThroughBuffers(body, waits, fused);
      FuseEverywhere(module, body, fused, order.Get());
      joint = find_joint();
      context.statistics["kernelize.copies"] +=
          static_cast<int64_t>(waits.copied.size() + waits.snapshots.size());
      continue;
    }
    const std::vector<std::vector<size_t>> groups =
        FindSiblings(drafts, plan, pieces, waits, placement, shapes, context.target, options);
    const bool explain = context.Flag("explain");
    if (explain) context.remarks += moved;
    const auto staged = explain ? StagedByKernel(body, plan) : NodeMap<std::vector<const UOp*>>();
    std::vector<KernelDraft> kernels;
    for (const std::vector<size_t>& group : groups) {
      if (group.size() == 1) {
        kernels.push_back(std::move(drafts[group[0]]));
      } else {
        std::vector<const UOp*> nodes;
        for (size_t i : group) nodes.push_back(drafts[i].nodes[0]);
        kernels.push_back(DraftKernel(module, body, shapes, plan, std::move(nodes), numbers));
        WaitForMeasures(body.root, kernels.back());
      }
      if (body.side.has_origins() && !kernels.back().copy) {
        kernels.back().origins = OriginsOf(body, shapes, plan, kernels.back(), numbers);
      }
      if (explain) {
        if (!kernels.back().copy) BuildKernel(module, body, shapes, plan, kernels.back());
        Explain(module, graph, kernels.back(), plan, staged, context);
      }
    }
    waits = OrderOfGroups(groups, waits);
    Assemble(module, graph, shapes, plan, placement, std::move(kernels), std::move(waits), pool,
             context);
    return absl::OkStatus();
  }
}

// The names of the bodies of loops.
std::set<std::string, std::less<>> RepeatedGraphs(const Module& module) {
  std::set<std::string, std::less<>> names;
  for (const auto& graph : module.graphs) {
    const Body& body = graph->body;
    for (const UOp* u : PostOrder(body.root)) {
      if (u->op != Op::kRepeat) continue;
      names.emplace(body.context->String(static_cast<StringId>(u->word(0))));
    }
  }
  return names;
}

absl::Status Run(Module& module, passes::PassContext& context) {
  if (absl::Status s = LowerLoops(module); !s.ok()) return s;
  const std::set<std::string, std::less<>> repeated = RepeatedGraphs(module);
  const size_t kernels_before = module.kernels.size();
  KernelPool pool(module);
  Hoister hoister(module, context.target);
  for (const auto& graph : module.graphs) {
    if (graph->name == kInitGraph) continue;
    Hoister* own = context.Flag("init") ? &hoister : nullptr;
    const bool is_repeated = repeated.contains(graph->name);
    if (absl::Status s = KernelizeGraph(module, *graph, is_repeated, own, pool, context); !s.ok()) {
      return s;
    }
  }
  hoister.Finish();
  if (Graph* init = module.FindGraph(kInitGraph)) {
    if (absl::Status s = KernelizeGraph(module, *init, false, nullptr, pool, context); !s.ok())
      return s;
  }
  if (context.Flag("share")) ShareKernels(module, kernels_before, context);
  return absl::OkStatus();
}

constexpr passes::PassOption kOptions[] = {
    {"max-inputs", passes::PassOption::Kind::kInt, "64",
     "buffers that one kernel reads at most; 0: no limit"},
    {"init", passes::PassOption::Kind::kFlag, "true",
     "computes what no input reaches once, in graph @init"},
    {"fuse", passes::PassOption::Kind::kFlag, "true",
     "lets a kernel hold several reduces, and store several values; off: one of each"},
    {"keep", passes::PassOption::Kind::kFlag, "true",
     "keeps values that a kernel reads in several ways in memory of its own"},
    {"copies", passes::PassOption::Kind::kFlag, "true",
     "sends an assign that cannot write in place through a buffer; off: it is an error"},
    {"cycles", passes::PassOption::Kind::kFlag, "true",
     "copies where kernels wait for each other over a buffer's old contents; off: it is an error"},
    {"share", passes::PassOption::Kind::kFlag, "true",
     "makes one kernel of four or more that differ in where they read or write alone"},
    {"explain", passes::PassOption::Kind::kFlag, "false", "says why each buffer is stored"},
};

}  // namespace

constinit const passes::Pass kKernelizePass = {
    "kernelize", "makes kernels of a tensor graph: what is fused, stored, and in which order",
    kOptions, Run};

}  // namespace tg::kernelize
