// Where op `view` reads: its ShapeTracker as index expressions.
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

// Position `index` of `view` node `u`, through its list of views from the last to the first: each
// but the first numbers the elements of the one before.
ViewIndex IndexThroughView(Builder& b, const UOp* u, const std::vector<const UOp*>& index);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_VIEW_INDEX_H_
