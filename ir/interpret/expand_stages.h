// Makes the memory of `stage` explicit in the simplest way, for interpreting a kernel that has
// some.
#ifndef TG_IR_INTERPRET_EXPAND_STAGES_H_
#define TG_IR_INTERPRET_EXPAND_STAGES_H_

#include "ir/module.h"

namespace tg::interpret {

bool HasStages(const Body& body);

// Each work-item fills memory that it alone uses, except along axes that are local ids: along these
// it fills its part of local memory. There is one buffer, and nothing is filled ahead.
void ExpandStages(Body& body);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_EXPAND_STAGES_H_
