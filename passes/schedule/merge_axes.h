// Merges axes of the results that the whole kernel treats as one, such as the rows and columns of
// the images in a convolution of 1 x 1. A long axis fills whole vectors and blocks where short ones
// would be padded.
#ifndef TG_PASSES_SCHEDULE_MERGE_AXES_H_
#define TG_PASSES_SCHEDULE_MERGE_AXES_H_

#include "ir/module.h"
#include "ir/shape.h"

namespace tg::schedule {

// Merges neighbouring axes of the stored shape, where a reshape that does so can be moved from the
// stores through all ops down to the arguments: no op separates the axes, pads them, or repeats
// along one of them alone. The outer axis gets the product of the sizes, the inner one size 1.
// Returns whether the body changed.
bool MergeResultAxes(Body& body, ShapeMap& shapes);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_MERGE_AXES_H_
