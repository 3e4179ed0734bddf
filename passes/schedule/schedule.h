// Chooses each kernel's schedule. A kernel that has directives keeps them, and they are checked.
// Any other kernel gets them from the heuristic for the kind of target. Only the kernel's header
// changes, and its body where values are staged; `lower` applies the directives. Tests:
// passes/schedule/test.
#ifndef TG_PASSES_SCHEDULE_SCHEDULE_H_
#define TG_PASSES_SCHEDULE_SCHEDULE_H_

#include "passes/pass.h"

namespace tg {

extern const Pass kSchedulePass;

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_SCHEDULE_H_
