#include "passes/schedule/use_measured.h"

#include <string_view>
#include <utility>

#include "base/status.h"
#include "ir/shape.h"
#include "ir/text/parser.h"
#include "passes/directives/directives.h"
#include "passes/schedule/kernel_facts.h"

namespace tg::schedule {

absl::StatusOr<KnownSchedules> ReadKnown(const passes::PassContext& context) {
  const std::string file(context.String("file"));
  if (file.empty()) return KnownSchedules();
  TG_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(file));
  TG_ASSIGN_OR_RETURN(std::vector<MeasuredSchedule> schedules, ParseScheduleFile(text, file));
  return KnownSchedules(std::move(schedules), context.target.name, context.String("driver"));
}

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

std::string ScheduleLines(const Module& module, const KernelCalls& calls,
                          const passes::Target& target) {
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

}  // namespace tg::schedule
