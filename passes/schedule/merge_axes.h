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

// Two axes of a shape between which all axes have size 1.
struct AxisPair {
  size_t outer, inner;
};

// Merges two axes of the stored shape, whatever the ops below do with them: where an op needs both,
// the index of the merged axis is divided, as for the rows and columns of an image under the window
// of a convolution. Returns whether the body changed; it does not if the memory of a result needs
// both axes.
bool MergeResultPair(Body& body, ShapeMap& shapes, AxisPair pair);

// Merges two axes of a reduce's source, which the reduce combines, in the same way.
bool MergeTerms(Body& body, ShapeMap& shapes, const UOp* reduce, AxisPair pair);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_MERGE_AXES_H_
