#include "passes/schedule/schedule.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "passes/analysis/structural_key.h"
#include "passes/directives/directives.h"
#include "passes/schedule/candidates.h"
#include "passes/schedule/forms.h"
#include "passes/schedule/kernel_facts.h"
#include "passes/schedule/use_measured.h"

namespace tg::schedule {
namespace {

// Gives the kernel a schedule that is known for one of its forms. Returns whether there is one.
bool TakeKnown(const Module& module, const KernelCalls& calls, Kernel& kernel,
               const std::vector<Form>& forms, const passes::Target& target,
               const KnownSchedules& known, passes::Statistics& statistics) {
  if (known.empty()) return false;
  const UOp* const root = kernel.body.root;
  if (UseKnown(module, calls, kernel, target, known.Find(KernelKey(kernel.body)), statistics)) {
    return true;
  }
  for (const Form& form : forms) {
    if (form.root == root) continue;
    kernel.body.root = form.root;
    if (UseKnown(module, calls, kernel, target, known.Find(KernelKey(kernel.body)), statistics)) {
      return true;
    }
  }
  kernel.body.root = root;
  return false;
}

// `forms`: receives those of the kernel if it gets one of them. `considered` as in FormsOf.
absl::Status ScheduleKernel(const Module& module, const KernelCalls& calls, Kernel& kernel,
                            bool heuristic, const passes::Target& target,
                            const KnownSchedules& known, size_t considered,
                            std::vector<Form>& forms, passes::Statistics& statistics) {
  if (heuristic && kernel.directives.empty()) {
    forms = FormsOf(module, calls, kernel, target, considered);
    if (TakeKnown(module, calls, kernel, forms, target, known, statistics)) return absl::OkStatus();
    const Form& chosen = forms.front();
    Take(chosen, kernel);
    if (!chosen.name.empty()) ++statistics[std::string(chosen.name)];
    statistics["schedule.directives"] += static_cast<int64_t>(kernel.directives.size());
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
  std::map<const Kernel*, std::vector<Form>> forms;  // an entry for each kernel
  for (const auto& kernel : module.kernels) forms[kernel.get()];
  const bool explains = context.Flag("explain");
  absl::Status status =
      passes::ForEachKernel(module, context, [&](Kernel& kernel, passes::Statistics& statistics) {
        if (kernel.stage != Stage::kKernel) return absl::OkStatus();
        return ScheduleKernel(module, calls, kernel, heuristic, context.target, known,
                              explains ? Candidates::kMaxSchedules : 0, forms.at(&kernel),
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
    if (!explains || kernel->stage != Stage::kKernel) continue;
    context.remarks +=
        Explain(module, renamed_calls, *kernel, context.target, forms.at(kernel.get()));
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

absl::StatusOr<cost::Cost> ChosenCost(const Module& module, const KernelCalls& calls,
                                      const Kernel& kernel, const passes::Target& target) {
  Kernel formed;
  formed.name = kernel.name;
  CloneBody(kernel.body, formed.body);
  Take(FormsOf(module, calls, formed, target, /*considered=*/0).front(), formed);
  return KernelCost(module, calls, formed, target);
}

constinit const passes::Pass kSchedulePass = {
    "schedule", "chooses how each kernel's axes are spread over groups, lanes and loops", kOptions,
    Run, /*former=*/"optimize"};

}  // namespace tg::schedule
