// The address that op `view` reads: its ShapeTracker as index expressions.
#ifndef TG_PASSES_ANALYSIS_VIEW_INDEX_H_
#define TG_PASSES_ANALYSIS_VIEW_INDEX_H_

#include <vector>

#include "ir/builder.h"
#include "ir/uop.h"

namespace tg {

struct ViewIndex {
  const UOp* offset = nullptr;  // element number in the source
  const UOp* valid = nullptr;   // null: always
};

// The source element at position `index` of `view` node `u`. Applies the list of views from the
// last to the first: each view except the first indexes the elements of the one before it.
ViewIndex IndexThroughView(Builder& b, const UOp* u, const std::vector<const UOp*>& index);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_VIEW_INDEX_H_
