// The forms of a kernel: other bodies that mean the same, such as one whose operands are marked for
// copies, and the choice among them and their schedules.
#ifndef TG_PASSES_SCHEDULE_FORMS_H_
#define TG_PASSES_SCHEDULE_FORMS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "passes/schedule/candidates.h"
#include "passes/target.h"

namespace tg::schedule {

// A body, and its cheapest schedule.
struct Form {
  std::string_view name;      // as statistics count it; empty: the kernel's own body
  const UOp* root = nullptr;  // of the body, in the kernel's context
  std::vector<Directive> directives;
  std::vector<Axis> axes;
  double seconds = 0;     // predicted, on the device
  Candidates considered;  // other schedules of it
};

// The forms of a kernel at Stage::kKernel without directives: first the one that it should get,
// then the others in the order of their rules. The kernel stays as it is. `considered`: how many
// other schedules of each form are remembered; 0: nobody asks, and forms that cannot be cheaper are
// left out.
std::vector<Form> FormsOf(const Module& module, const KernelCalls& calls, Kernel& kernel,
                          const passes::Target& target, size_t considered);

// Gives the kernel the body and the schedule of one of its forms.
void Take(const Form& form, Kernel& kernel);

// Lines about a scheduled kernel and its forms: the cost of its schedule by terms, and of each
// other one that was considered. The kernel stays as it is.
std::string Explain(const Module& module, const KernelCalls& calls, Kernel& kernel,
                    const passes::Target& target, const std::vector<Form>& forms);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_FORMS_H_
