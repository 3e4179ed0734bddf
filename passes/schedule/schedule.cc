#include "passes/schedule/schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "ir/text/parser.h"
#include "passes/analysis/accesses.h"
#include "passes/analysis/structural_key.h"
#include "passes/cost/predict_cost.h"
#include "passes/directives/directives.h"
#include "passes/indices/lower_indices.h"
#include "passes/schedule/candidates.h"
#include "passes/schedule/cpu_contraction.h"
#include "passes/schedule/cpu_tuple.h"
#include "passes/schedule/gpu_contraction.h"
#include "passes/schedule/gpu_tuple.h"
#include "passes/schedule/kernel_cost.h"
#include "passes/schedule/packing.h"
#include "passes/schedule/rules.h"
#include "passes/schedule/schedule_builder.h"
#include "passes/schedule/schedule_file.h"
#include "passes/schedule/staged_values.h"
#include "passes/simplify/simplify.h"

namespace tg::schedule {
namespace {

// Whether there is nothing to choose: some axis has no iterations, or every axis has one.
bool IsTrivial(const loop_nest::LoopNest& nest) {
  if (nest.axes.empty()) return true;
  for (const loop_nest::LoopAxis& a : nest.axes) {
    if (a.max_size == 0) return true;
  }
  return false;
}

// Whether the body contains index arithmetic: an iota, or a pad of a constant. The triangle of ones
// whose sum is an arange is such a pad.
bool HasIndexArithmetic(const Body& body) {
  NodeSet constant;
  for (const UOp* u : body.Order()) {
    if (u->op == Op::kIota) return true;
    const bool is_constant = IsConst(u) || (IsMovement(u->op) && constant.Contains(u->src(0)));
    if (is_constant && u->op == Op::kPad) return true;
    if (is_constant) constant.Insert(u);
  }
  return false;
}

// Chooses directives for a kernel that has none, and, if allowed, values to stage.
void Choose(const Module& module, const KernelCalls& calls, Kernel& kernel,
            const passes::Target& target, Candidates* candidates, passes::Statistics& statistics) {
  // The accesses are found in a clone, since the analysis creates nodes.
  Kernel scratch;
  scratch.name = kernel.name;
  CloneBody(kernel.body, scratch.body);
  ShapeMap shapes(module, *scratch.body.context);
  simplify::Simplifier simplifier(*scratch.body.context, &module);
  loop_nest::LoopNest start = *directive::MakeLoopNest(module, calls, scratch, target, shapes);
  if (IsTrivial(start)) {
    kernel.axes = start.ToAxes();
    return;
  }
  std::vector<analysis::Access> accesses = analysis::FindAccesses(
      scratch.body, start.base, shapes, [&](const UOp* u) { return simplifier(u); });
  // Only reduces of index arithmetic can be replaced by an expression without a loop. Finding them
  // costs a lowering of the kernel, so it is not done for other kernels.
  const bool places = HasIndexArithmetic(scratch.body);
  NodeSet folded = places ? indices::FoldedReduces(module, calls, scratch, target) : NodeSet();
  const bool tuples = llvm::any_of(start.base, [](const auto& base) {
    return base.reduce && base.reduce->op == Op::kReduceTuple;
  });
  const auto count = [&] {
    statistics["schedule.directives"] += static_cast<int64_t>(kernel.directives.size());
  };
  const bool folds = llvm::any_of(
      start.base, [&](const auto& base) { return base.reduce && folded.Contains(base.reduce); });
  const bool may_contract = !folds && !tuples;
  if (may_contract && !target.is_gpu) {
    const UOp* const plain = kernel.body.root;
    if (std::optional<loop_nest::LoopNest> nest =
            ScheduleCpuContraction(module, calls, kernel, target, candidates)) {
      kernel.axes = nest->ToAxes();
      ++statistics["schedule.contractions"];
      return count();
    }
    kernel.body.root = plain;
  }
  const bool stages = llvm::any_of(start.base, [](const auto& base) { return base.staged; });
  const std::vector<analysis::Access> with_staged =
      !stages ? accesses
              : analysis::FindAccesses(
                    scratch.body, start.base, shapes, [&](const UOp* u) { return simplifier(u); },
                    /*with_staged=*/true);
  ScheduleBuilder builder(scratch, shapes, std::move(start), std::move(accesses), std::move(folded),
                          target, candidates);
  if (tuples) {
    if (target.is_gpu) {
      if (const auto nest = ScheduleGpuTuple(module, calls, kernel, target)) {
        kernel.axes = nest->ToAxes();
        ++statistics["schedule.tuples"];
        return count();
      }
    } else if (target.HasVectors()) {
      ScheduleCpuTuple(builder);
    }
    kernel.directives = builder.directives();
    kernel.axes = builder.nest().ToAxes();
    return count();
  }
  if (const std::optional<PackedRows> packed = FindPackedRows(builder)) {
    if (StageRows(kernel, scratch.body, *packed, shapes)) {
      ++statistics["schedule.packed"];
      return Choose(module, calls, kernel, target, candidates, statistics);
    }
  }
  if (target.is_gpu) {
    const double seconds = ApplyCheapest(kGpuRules, builder, [&](const loop_nest::LoopNest& nest) {
      return cost::PredictCost(cost::WorkOf(scratch.body, nest, with_staged, target), target)
          .Total();
    });
    const UOp* const plain = kernel.body.root;
    if (may_contract) {
      std::optional<loop_nest::LoopNest> nest =
          ScheduleGpuContraction(module, calls, kernel, target, candidates);
      const absl::StatusOr<cost::Cost> cost =
          nest ? KernelCost(module, calls, kernel, target) : absl::NotFoundError("");
      if (cost.ok() && cost->OnDevice() * (1 - kPredictionError) <= seconds) {
        kernel.axes = nest->ToAxes();
        ++statistics["schedule.contractions"];
        return count();
      }
    }
    kernel.body.root = plain;
  } else {
    ScheduleForCpu(builder);
  }
  kernel.directives = builder.directives();
  kernel.axes = builder.nest().ToAxes();
  count();
}

// Gives the kernel the measured directives, if there are some and they are legal. Returns whether
// it has.
bool UseKnown(const Module& module, const KernelCalls& calls, Kernel& kernel,
              const passes::Target& target, const std::vector<Directive>* measured,
              passes::Statistics& statistics) {
  if (!measured) return false;
  Kernel scheduled;  // so that the kernel stays as it is if they are not legal
  scheduled.name = kernel.name;
  scheduled.directives = *measured;
  CloneBody(kernel.body, scheduled.body);
  ShapeMap shapes(module, *scheduled.body.context);
  const absl::StatusOr<loop_nest::LoopNest> nest =
      directive::MakeLoopNest(module, calls, scheduled, target, shapes);
  ++statistics[nest.ok() ? "schedule.known" : "schedule.known-illegal"];
  if (!nest.ok()) return false;
  kernel.directives = *measured;
  kernel.axes = nest->ToAxes();
  return true;
}

absl::Status ScheduleKernel(const Module& module, const KernelCalls& calls, Kernel& kernel,
                            bool heuristic, const passes::Target& target,
                            const KnownSchedules& known, Candidates* candidates,
                            passes::Statistics& statistics) {
  if (heuristic && kernel.directives.empty()) {
    const std::string plain = known.empty() ? "" : KernelKey(kernel.body);
    if (UseKnown(module, calls, kernel, target, known.Find(plain), statistics)) {
      return absl::OkStatus();
    }
    Choose(module, calls, kernel, target, candidates, statistics);
    if (known.empty()) return absl::OkStatus();
    // The choice may have given the body another form, with packed operands or a staged copy.
    const std::string chosen = KernelKey(kernel.body);
    if (chosen != plain) UseKnown(module, calls, kernel, target, known.Find(chosen), statistics);
    return absl::OkStatus();
  }
  ShapeMap shapes(module, *kernel.body.context);
  const absl::StatusOr<loop_nest::LoopNest> nest =
      directive::MakeLoopNest(module, calls, kernel, target, shapes);
  if (!nest.ok()) return nest.status();
  kernel.axes = nest->ToAxes();
  return absl::OkStatus();
}

absl::StatusOr<KnownSchedules> ReadKnown(const passes::PassContext& context) {
  const std::string file(context.String("file"));
  if (file.empty()) return KnownSchedules();
  TG_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(file));
  TG_ASSIGN_OR_RETURN(std::vector<MeasuredSchedule> schedules, ParseScheduleFile(text, file));
  return KnownSchedules(std::move(schedules), context.target.name, context.String("driver"));
}

// "schedules of FILE: 3 of 12 kernels".
std::string KnownRemark(const passes::PassContext& context, size_t kernels) {
  const auto count = [&](std::string_view name) {
    const auto found = context.statistics.find(name);
    return found == context.statistics.end() ? 0 : found->second;
  };
  std::string text = Cat("schedules of ", context.String("file"), ": ", count("schedule.known"),
                         " of ", kernels, " kernels");
  if (const int64_t illegal = count("schedule.known-illegal"); illegal > 0) {
    text += Cat("; ", illegal, " not legal on this target");
  }
  return text + "\n";
}

// A file of the schedules that the kernels have.
std::string Lines(const Module& module, const KernelCalls& calls, const passes::Target& target) {
  std::vector<MeasuredSchedule> schedules;
  for (const auto& kernel : module.kernels) {
    if (kernel->stage != Stage::kKernel) continue;
    const absl::StatusOr<cost::Cost> cost = KernelCost(module, calls, *kernel, target);
    if (!cost.ok()) continue;
    const double seconds = cost->OnDevice();
    schedules.push_back({KernelKey(kernel->body), target.name, std::string(kAnyDriver), seconds,
                         seconds, kernel->directives});
  }
  return PrintScheduleFile(std::move(schedules));
}

absl::Status Run(Module& module, passes::PassContext& context) {
  const bool heuristic = !context.Flag("none");
  TG_ASSIGN_OR_RETURN(const KnownSchedules known, ReadKnown(context));
  std::set<std::string> taken;
  for (const auto& kernel : module.kernels) {
    if (kernel->stage != Stage::kKernel) taken.insert(kernel->name);
  }
  const KernelCalls calls(module);
  std::map<const Kernel*, Candidates> considered;  // an entry for each kernel if asked for
  if (context.Flag("explain")) {
    for (const auto& kernel : module.kernels) considered[kernel.get()];
  }
  absl::Status status =
      passes::ForEachKernel(module, context, [&](Kernel& kernel, passes::Statistics& statistics) {
        if (kernel.stage != Stage::kKernel) return absl::OkStatus();
        const auto own = considered.find(&kernel);
        Candidates* candidates = own == considered.end() ? nullptr : &own->second;
        return ScheduleKernel(module, calls, kernel, heuristic, context.target, known, candidates,
                              statistics);
      });
  if (!status.ok()) return status;
  if (!context.String("file").empty()) {
    const auto kernels = llvm::count_if(
        module.kernels, [](const auto& kernel) { return kernel->stage == Stage::kKernel; });
    context.remarks += KnownRemark(context, static_cast<size_t>(kernels));
  }
  std::map<std::string, std::string> renamed;
  for (const auto& kernel : module.kernels) {
    if (kernel->stage != Stage::kKernel) continue;
    std::string content = analysis::StructuralKey(kernel->body, kernel->body.Order());
    for (const Directive& directive : kernel->directives)
      content += directive::DirectiveText(directive);
    renamed[kernel->name] =
        analysis::UniqueKernelName(analysis::KernelName(kernel->axes), content, taken);
    taken.insert(renamed[kernel->name]);
  }
  analysis::RenameKernels(module, renamed);
  const KernelCalls renamed_calls(module);
  for (const auto& kernel : module.kernels) {
    const auto own = considered.find(kernel.get());
    if (own == considered.end() || kernel->stage != Stage::kKernel) continue;
    context.remarks += own->second.Explain(module, renamed_calls, *kernel, context.target);
  }
  if (context.Flag("lines")) context.remarks += Lines(module, renamed_calls, context.target);
  for (const auto& kernel : module.kernels) {
    if (!context.Flag("loop-nest") || kernel->stage != Stage::kKernel) continue;
    ShapeMap shapes(module, *kernel->body.context);
    const absl::StatusOr<loop_nest::LoopNest> nest =
        directive::MakeLoopNest(module, renamed_calls, *kernel, context.target, shapes);
    if (!nest.ok()) return nest.status();
    absl::StrAppend(&context.remarks, "@", kernel->name, ":\n", loop_nest::PrintLoopNest(*nest));
  }
  return absl::OkStatus();
}

constexpr passes::PassOption kOptions[] = {
    {"none", passes::PassOption::Kind::kFlag, "false",
     "checks the directives that are there and chooses none"},
    {"explain", passes::PassOption::Kind::kFlag, "false",
     "prints the predicted cost of each kernel, by terms, and the candidates that were considered"},
    {"loop-nest", passes::PassOption::Kind::kFlag, "false",
     "prints the loops of each kernel, how each runs, and what is copied in its steps"},
    {"file", passes::PassOption::Kind::kString, "",
     "a file of measured schedules (docs/search.md), which the kernels get that it has"},
    {"driver", passes::PassOption::Kind::kString, "",
     "uses only the file's schedules that were measured with this driver"},
    {"lines", passes::PassOption::Kind::kFlag, "false",
     "prints each kernel's schedule as a line of such a file, with predicted seconds"},
};

}  // namespace

constinit const passes::Pass kSchedulePass = {
    "schedule", "chooses how each kernel's axes are spread over groups, lanes and loops", kOptions,
    Run, /*former=*/"optimize"};

}  // namespace tg::schedule
