// How the pass takes schedules from a file of measured ones, and prints such a file.
#ifndef TG_PASSES_SCHEDULE_USE_MEASURED_H_
#define TG_PASSES_SCHEDULE_USE_MEASURED_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "passes/pass.h"
#include "passes/schedule/schedule_file.h"

namespace tg::schedule {

// The schedules of the options `file` and `driver`; none without a file.
absl::StatusOr<KnownSchedules> ReadKnown(const passes::PassContext& context);

// Gives the kernel the measured directives, if there are some and they are legal. Returns whether
// it has.
bool UseKnown(const Module& module, const KernelCalls& calls, Kernel& kernel,
              const passes::Target& target, const std::vector<Directive>* measured,
              passes::Statistics& statistics);

// "schedules of FILE: 3 of 12 kernels".
std::string KnownRemark(const passes::PassContext& context, size_t kernels);

// A file of the schedules that the kernels have, with predicted seconds.
std::string ScheduleLines(const Module& module, const KernelCalls& calls,
                          const passes::Target& target);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_USE_MEASURED_H_
