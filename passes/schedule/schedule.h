// Chooses a schedule for each kernel. A kernel that has directives keeps them, and they are
// checked. A kernel without directives gets them from the heuristic for the kind of target. Only
// the header of the kernel changes, and its body if values are staged or packed; pass `lower`
// applies the directives. Tests: passes/schedule/test.
#ifndef TG_PASSES_SCHEDULE_SCHEDULE_H_
#define TG_PASSES_SCHEDULE_SCHEDULE_H_

#include "passes/pass.h"

namespace tg::schedule {

extern const passes::Pass kSchedulePass;

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_SCHEDULE_H_
