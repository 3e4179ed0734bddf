// The local ids of a kernel.
#ifndef TG_PASSES_INDICES_LOCAL_IDS_H_
#define TG_PASSES_INDICES_LOCAL_IDS_H_

#include <algorithm>
#include <vector>

#include "ir/uop.h"

namespace tg::indices {

// The local ids among `nodes`, which has no duplicates, in the order of their dimensions.
inline std::vector<const UOp*> LocalIds(UOpSpan nodes) {
  std::vector<const UOp*> out;
  for (const UOp* u : nodes) {
    if (IsLocalId(u)) out.push_back(u);
  }
  std::sort(out.begin(), out.end(),
            [](const UOp* a, const UOp* b) { return a->word() < b->word(); });
  return out;
}

}  // namespace tg::indices

#endif  // TG_PASSES_INDICES_LOCAL_IDS_H_
