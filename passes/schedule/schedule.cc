#include "passes/schedule/schedule.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "passes/analysis/structural_key.h"
#include "passes/directives/directives.h"
#include "passes/schedule/candidates.h"
#include "passes/schedule/cpu_contraction.h"
#include "passes/schedule/cpu_tuple.h"
#include "passes/schedule/gpu_contraction.h"
#include "passes/schedule/gpu_tuple.h"
#include "passes/schedule/kernel_facts.h"
#include "passes/schedule/packing.h"
#include "passes/schedule/rules.h"
#include "passes/schedule/schedule_builder.h"
#include "passes/schedule/staged_values.h"
#include "passes/schedule/use_measured.h"

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

// A kernel as a blocked contraction, and its predicted time.
struct Contracted {
  const UOp* root;
  std::vector<Directive> directives;
  std::vector<Axis> axes;
  double seconds;
};

// Whether every address is affine along the axes of vectors, so that a prediction of their accesses
// can be trusted.
bool VectorsAreAffine(const ScheduleBuilder& builder) {
  return llvm::all_of(builder.Axes(AxisKind::kVector), [&](size_t axis) {
    return llvm::all_of(builder.accesses(), [&](const analysis::Access& a) {
      return builder.Stride(a, axis).has_value();
    });
  });
}

// Chooses directives for a kernel that has none, and values to stage or to pack. Returns false if
// the kernel does not have this form; then its body may have changed.
bool Choose(const Module& module, const KernelCalls& calls, Kernel& kernel,
            const passes::Target& target, Form form, Candidates* candidates,
            passes::Statistics& statistics) {
  KernelFacts facts(module, calls, kernel, target);
  const loop_nest::LoopNest& plain = facts.plain();
  if (IsTrivial(plain)) {
    kernel.axes = plain.ToAxes();
    return form == Form::kCheapest;
  }
  const bool tuples = llvm::any_of(plain.base, [](const auto& base) {
    return base.reduce && base.reduce->op == Op::kReduceTuple;
  });
  const auto count = [&] {
    statistics["schedule.directives"] += static_cast<int64_t>(kernel.directives.size());
    return true;
  };
  const bool has_closed = llvm::any_of(plain.base, [&](const auto& base) {
    return base.reduce && facts.closed().Contains(base.reduce);
  });
  const bool may_contract = !has_closed && !tuples && form != Form::kOther;
  // A CPU's contraction. Its vectors are not masked.
  std::optional<Contracted> contracted;
  std::optional<Candidates> contractions;
  if (candidates) contractions = *candidates;
  if (may_contract && !target.is_gpu) {
    const UOp* const root = kernel.body.root;
    if (std::optional<loop_nest::LoopNest> nest = ScheduleCpuContraction(
            module, calls, kernel, facts, contractions ? &*contractions : nullptr)) {
      kernel.axes = nest->ToAxes();
      const bool may_mask = form == Form::kCheapest && target.masked_access &&
                            llvm::any_of(plain.base, [](const analysis::BaseAxis& base) {
                              return base.IsStored() && base.size.is_symbolic();
                            });
      const absl::StatusOr<cost::Cost> cost =
          may_mask ? KernelCost(module, calls, kernel, target) : absl::NotFoundError("");
      if (!cost.ok()) {
        ++statistics["schedule.contractions"];
        if (candidates) *candidates = *std::move(contractions);
        return count();
      }
      contracted = {kernel.body.root, std::move(kernel.directives), kernel.axes, cost->OnDevice()};
      kernel.directives.clear();
    }
    kernel.body.root = root;
  }
  if (form == Form::kContraction && !(may_contract && target.is_gpu)) return false;
  ScheduleBuilder builder(facts, candidates);
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
    if (StageRows(kernel, facts.kernel().body, *packed, facts.shapes())) {
      ++statistics["schedule.packed"];
      return Choose(module, calls, kernel, target, form, candidates, statistics);
    }
  }
  const bool only_contraction = form == Form::kContraction;
  const auto cost_of = [&](const loop_nest::LoopNest& nest) {
    return facts.CostOf(nest).OnDevice();
  };
  const double seconds =
      only_contraction ? std::numeric_limits<double>::infinity() : ApplyCheapest(builder, cost_of);
  if (target.is_gpu && may_contract) {
    const UOp* const root = kernel.body.root;
    std::optional<loop_nest::LoopNest> nest =
        ScheduleGpuContraction(module, calls, kernel, target, candidates);
    const absl::StatusOr<cost::Cost> cost =
        nest ? KernelCost(module, calls, kernel, target) : absl::NotFoundError("");
    if (cost.ok() && cost->OnDevice() * (1 - target.prediction_error) <= seconds) {
      kernel.axes = nest->ToAxes();
      ++statistics["schedule.contractions"];
      return count();
    }
    kernel.body.root = root;
    if (only_contraction) return false;
  }
  if (contracted && (contracted->seconds * (1 - target.prediction_error) <= seconds ||
                     !VectorsAreAffine(builder))) {
    kernel.body.root = contracted->root;
    kernel.directives = std::move(contracted->directives);
    kernel.axes = std::move(contracted->axes);
    ++statistics["schedule.contractions"];
    if (candidates) *candidates = *std::move(contractions);
    return count();
  }
  kernel.directives = builder.directives();
  kernel.axes = builder.nest().ToAxes();
  return count();
}

// Gives the kernel a schedule that is known for a form of it. Returns whether there is one.
bool ChooseKnown(const Module& module, const KernelCalls& calls, Kernel& kernel,
                 const passes::Target& target, const KnownSchedules& known,
                 passes::Statistics& statistics) {
  if (known.empty()) return false;
  const std::string before = KernelKey(kernel.body);
  if (UseKnown(module, calls, kernel, target, known.Find(before), statistics)) return true;
  for (const Form form : {Form::kContraction, Form::kOther}) {
    Kernel formed;
    formed.name = kernel.name;
    CloneBody(kernel.body, formed.body);
    passes::Statistics ignored;
    if (!Choose(module, calls, formed, target, form, nullptr, ignored)) continue;
    const std::string key = KernelKey(formed.body);
    if (key == before) continue;
    if (!UseKnown(module, calls, formed, target, known.Find(key), statistics)) continue;
    kernel.body = std::move(formed.body);
    kernel.directives = std::move(formed.directives);
    kernel.axes = std::move(formed.axes);
    return true;
  }
  return false;
}

absl::Status ScheduleKernel(const Module& module, const KernelCalls& calls, Kernel& kernel,
                            bool heuristic, const passes::Target& target,
                            const KnownSchedules& known, Candidates* candidates,
                            passes::Statistics& statistics) {
  if (heuristic && kernel.directives.empty()) {
    if (ChooseKnown(module, calls, kernel, target, known, statistics)) return absl::OkStatus();
    Choose(module, calls, kernel, target, Form::kCheapest, candidates, statistics);
    return absl::OkStatus();
  }
  ShapeMap shapes(module, *kernel.body.context);
  const absl::StatusOr<loop_nest::LoopNest> nest =
      directive::MakeLoopNest(module, calls, kernel, target, shapes);
  if (!nest.ok()) return nest.status();
  kernel.axes = nest->ToAxes();
  return absl::OkStatus();
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
  if (context.Flag("lines"))
    context.remarks += ScheduleLines(module, renamed_calls, context.target);
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

std::optional<std::vector<std::vector<Directive>>> ConsiderSchedules(const Module& module,
                                                                     const KernelCalls& calls,
                                                                     Kernel& kernel,
                                                                     const passes::Target& target,
                                                                     Form form) {
  // More than a reader wants, since a search measures what the ranks put wrong.
  constexpr size_t kMost = 32;
  Kernel formed;
  formed.name = kernel.name;
  CloneBody(kernel.body, formed.body);
  Candidates candidates(kMost);
  passes::Statistics statistics;
  if (!Choose(module, calls, formed, target, form, &candidates, statistics)) return std::nullopt;
  kernel.body = std::move(formed.body);
  kernel.directives = std::move(formed.directives);
  kernel.axes = std::move(formed.axes);
  return candidates.Schedules();
}

absl::StatusOr<cost::Cost> ChosenCost(const Module& module, const KernelCalls& calls,
                                      const Kernel& kernel, const passes::Target& target) {
  Kernel formed;
  formed.name = kernel.name;
  CloneBody(kernel.body, formed.body);
  passes::Statistics statistics;
  Choose(module, calls, formed, target, Form::kCheapest, nullptr, statistics);
  return KernelCost(module, calls, formed, target);
}

constinit const passes::Pass kSchedulePass = {
    "schedule", "chooses how each kernel's axes are spread over groups, lanes and loops", kOptions,
    Run, /*former=*/"optimize"};

}  // namespace tg::schedule
