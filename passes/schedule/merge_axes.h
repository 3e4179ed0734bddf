// Merges axes of the results that the whole kernel treats as one, such as the rows and columns of
// the images in a convolution of 1 x 1. A long axis fills whole vectors and blocks where short ones
// would be padded.
#ifndef TG_PASSES_SCHEDULE_MERGE_AXES_H_
#define TG_PASSES_SCHEDULE_MERGE_AXES_H_

#include <cstddef>
#include <optional>

#include "ir/module.h"
#include "ir/shape.h"

namespace tg::schedule {

// Merges neighbouring axes of the stored shape, where a reshape that does so can be moved from the
// stores through all ops down to the arguments: no op separates the axes, pads them, or repeats
// along one of them alone. The outer axis gets the product of the sizes, the inner one size 1.
// `symbolic`: also axes of symbolic sizes. Returns whether the body changed.
bool MergeResultAxes(Body& body, ShapeMap& shapes, bool symbolic = false);

// Two axes of a shape.
struct AxisPair {
  size_t outer, inner;
};

// Merges two axes of the stored shape, whatever the ops below do with them: where an op needs both,
// the index of the merged axis is divided, as for the rows and columns of an image under the window
// of a convolution. If there are axes between the two, as the channels between the images and their
// pixels, the inner one gets the product, and the index is divided where results are stored, too.
// Returns the axis with the product; nullopt, and the body stays, if neighbours are separate in the
// memory of a result.
std::optional<size_t> MergeResultPair(Body& body, ShapeMap& shapes, AxisPair pair);

// Merges two neighbouring axes of a reduce's source, which the reduce combines, in the same way.
bool MergeTerms(Body& body, ShapeMap& shapes, const UOp* reduce, AxisPair pair);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_MERGE_AXES_H_
