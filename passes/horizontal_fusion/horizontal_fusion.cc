#include "passes/horizontal_fusion/horizontal_fusion.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/structural_key.h"
#include "passes/horizontal_fusion/choice.h"
#include "passes/horizontal_fusion/launches.h"
#include "passes/horizontal_fusion/merge.h"

namespace tg {
namespace {

size_t MostKernels(const PassContext& context) {
  const int64_t given = context.Int("most");
  return static_cast<size_t>(given >= 0 ? given : context.target.fused_launches);
}

// The graph with the fused launches in place of those of their members.
void RewriteGraph(Graph& graph, const Launches& levels,
                  const std::vector<std::pair<const FusedLaunch*, std::string>>& fused) {
  Body& body = graph.body;
  Context& context = *body.context;
  NodeMap<size_t> number;  // 1 + the position in `fused`
  for (size_t i = 0; i < fused.size(); ++i) {
    for (const UOp* call : fused[i].first->calls) number[call] = i + 1;
  }
  std::vector<const UOp*> whole(fused.size());
  NodeMap<const UOp*> made;
  std::vector<const UOp*> srcs;
  for (const UOp* u : levels.order()) {
    const size_t n = number.Get(u);
    if (n == 0 || !whole[n - 1]) {
      srcs.clear();
      for (const UOp* s : n == 0 ? u->srcs() : UOpSpan(fused[n - 1].first->operands)) {
        srcs.push_back(made.Get(s));
      }
      made[u] = n == 0 ? context.Rebuild(u, context, srcs)
                       : context.Make(Op::kKernel, kVoid, srcs,
                                      {uint64_t{context.Intern(fused[n - 1].second)}});
      if (n != 0) whole[n - 1] = made.Get(u);
    } else {
      made[u] = whole[n - 1];
    }
    body.CarryOver(u, made.Get(u));
  }
  body.root = made.Get(body.root);
  Compact(body);
}

absl::Status Run(Module& module, PassContext& context) {
  const size_t most = MostKernels(context);
  if (most < 2) return absl::OkStatus();
  std::vector<Launches> launches;
  for (const auto& graph : module.graphs) launches.emplace_back(*graph);
  std::set<std::string> names;
  for (const auto& kernel : module.kernels) names.insert(kernel->name);
  std::vector<Fusion> fusions = ChooseFusions(module, launches, context.target, most);
  std::vector<std::vector<std::pair<const FusedLaunch*, std::string>>> fused(module.graphs.size());
  llvm::DenseSet<const Kernel*> merged;
  llvm::DenseMap<const Kernel*, std::unique_ptr<Kernel>> wholes;  // by their first member
  for (const Fusion& fusion : fusions) {
    std::unique_ptr<Kernel> whole = MergeKernels(fusion.kernels, fusion.slots, context.target);
    if (!whole) continue;
    std::string name;
    for (const Kernel* member : fusion.kernels) {
      absl::StrAppend(&name, name.empty() ? "" : "__", member->name);
      merged.insert(member);
    }
    std::string key;
    if (names.contains(name)) key = StructuralKey(whole->body, whole->body.Order());
    whole->name = UniqueKernelName(name, key, names);
    names.insert(whole->name);
    for (const FusedLaunch& launch : fusion.launches) {
      fused[launch.graph].push_back({&launch, whole->name});
      ++context.statistics["horizontal-fusion.launches"];
    }
    context.statistics["horizontal-fusion.kernels"] += static_cast<int64_t>(fusion.kernels.size());
    if (context.Flag("explain")) {
      absl::StrAppend(&context.remarks, "horizontal-fusion: ", fusion.kernels.size(),
                      " kernels as @", whole->name, ", launched ", fusion.launches.size(),
                      fusion.launches.size() == 1 ? " time\n" : " times\n");
    }
    wholes[fusion.kernels[0]] = std::move(whole);
  }
  if (wholes.empty()) return absl::OkStatus();
  // Each fused kernel takes the position of its first member.
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (auto& kernel : module.kernels) {
    if (const auto at = wholes.find(kernel.get()); at != wholes.end()) {
      kernels.push_back(std::move(at->second));
    } else if (!merged.contains(kernel.get())) {
      kernels.push_back(std::move(kernel));
    }
  }
  module.kernels = std::move(kernels);
  for (size_t g = 0; g < module.graphs.size(); ++g) {
    if (!fused[g].empty()) RewriteGraph(*module.graphs[g], launches[g], fused[g]);
  }
  return absl::OkStatus();
}

constexpr PassOption kOptions[] = {
    {"most", PassOption::Kind::kInt, "-1",
     "kernels that become one at most; -1: what the target says, 4 on a CPU, 1 on a GPU"},
    {"explain", PassOption::Kind::kFlag, "false", "says which kernels became one"},
};

}  // namespace

constinit const Pass kHorizontalFusionPass = {
    "horizontal-fusion",
    "makes one launch of kernels that do not wait for each other",
    kOptions,
    Run,
};

}  // namespace tg
