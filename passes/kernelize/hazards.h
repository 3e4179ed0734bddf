// In-place writes and who still needs what they overwrite.
#ifndef TG_PASSES_KERNELIZE_HAZARDS_H_
#define TG_PASSES_KERNELIZE_HAZARDS_H_

#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/realize.h"
#include "passes/kernelize/uses.h"

namespace tg {

// For each draft, by position: the drafts that must run before it because they read what it
// overwrites. For assigns that were in the graph already: `stored`, likewise.
struct WriteAfterRead {
  std::vector<std::vector<size_t>> drafts;
  NodeMap<std::vector<size_t>> stored;
  // Assigns that cannot write in place: they read their target elsewhere than where they write, or
  // a reader of the old contents needs their result.
  std::vector<const UOp*> copied;
};

WriteAfterRead FindHazards(const Body& graph, const std::vector<KernelDraft>& drafts,
                           UseTable& uses, const NodeMap<std::vector<UseId>>& read_uses);

// Rewrites the graph so that each of `assigns` first stores its value in a buffer of its own, which
// the assign's users read, and then copies.
void CopyThroughBuffers(Body& graph, const std::vector<const UOp*>& assigns);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_HAZARDS_H_
