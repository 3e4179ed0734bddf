// Work-items that store a word each, next to each other, fill a part of a sector of memory: a row
// of results of matrix instructions in 16 bits is two elements in each of four work-items. Where a
// work-item has several such words, neighbours exchange them first, so that each stores a vector.
#ifndef TG_PASSES_DEVECTORIZE_WHOLE_SECTORS_H_
#define TG_PASSES_DEVECTORIZE_WHOLE_SECTORS_H_

#include "ir/module.h"
#include "passes/target.h"

namespace tg::devectorize {

// To be called after accesses and arithmetic are cut; does nothing for targets without sectors or
// without exchanges inside a subgroup.
void FillSectors(Body& body, const passes::Target& target, RootOrder& order);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_WHOLE_SECTORS_H_
