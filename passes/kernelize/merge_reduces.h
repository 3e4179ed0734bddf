// Reduces of reduces.
#ifndef TG_PASSES_KERNELIZE_MERGE_REDUCES_H_
#define TG_PASSES_KERNELIZE_MERGE_REDUCES_H_

#include "ir/module.h"

namespace tg {

// A reduce of a reduce by one op is one, if nobody else reads the inner one: what was split to be
// stored in parts and was not is whole again, and its axes may be scheduled in any way.
// `order`: the body's, before.
void MergeReduces(const Module& module, Body& body, UOpSpan order);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_MERGE_REDUCES_H_
