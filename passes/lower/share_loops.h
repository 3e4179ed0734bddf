// Reduces whose loops are alike run in the same loops.
#ifndef TG_PASSES_LOWER_SHARE_LOOPS_H_
#define TG_PASSES_LOWER_SHARE_LOOPS_H_

#include "ir/module.h"

namespace tg::lower {

// Gives a reduce the ranges of an earlier one if both have ranges of equal sizes inside of the same
// loops, neither needs the other's result, and all that varies with the ranges is arithmetic and
// loads: as of two products with the same vector. Then what both load is loaded once, and the loads
// of an iteration wait together. The body is at stage lowered, before its reduces are.
void ShareLoops(Body& body);

}  // namespace tg::lower

#endif  // TG_PASSES_LOWER_SHARE_LOOPS_H_
