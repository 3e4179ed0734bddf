// The address that an op `view` reads, given as index expressions for its ShapeTracker.
#ifndef TG_PASSES_ANALYSIS_VIEW_INDEX_H_
#define TG_PASSES_ANALYSIS_VIEW_INDEX_H_

#include <vector>

#include "ir/builder.h"
#include "ir/uop.h"

namespace tg::analysis {

struct ViewIndex {
  const UOp* offset = nullptr;  // element number in the memory of the source
  const UOp* valid = nullptr;   // null: always
};

// The element of the source at indices `index` of `view` node `u`, and the predicate that its masks
// give. Applies the ShapeTracker's views from the last to the first: each view except the first
// indexes the elements of the view before it.
ViewIndex IndexThroughView(Builder& b, const UOp* u, const std::vector<const UOp*>& index);

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_VIEW_INDEX_H_
