// Merges nested reduces.
#ifndef TG_PASSES_KERNELIZE_MERGE_REDUCES_H_
#define TG_PASSES_KERNELIZE_MERGE_REDUCES_H_

#include "ir/module.h"

namespace tg::kernelize {

// Merges a reduce of a reduce by the same op into one, if the inner one has no other use. Such
// pairs come from a split whose inner part was not stored after all; as one reduce, its axes can be
// scheduled freely. `order`: the order of the body's nodes before the change.
void MergeReduces(const Module& module, Body& body, UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_MERGE_REDUCES_H_
