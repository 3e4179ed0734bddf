// Rewrites concatenations. A graph expresses a concatenation as a sum of padded pieces, which reads
// every piece for each element. If there are many pieces, each of them is written to its slice of a
// buffer instead.
//
// A chain of `where` that selects pieces by comparing an index is not rewritten. The branches of a
// sum are pads, which say where each piece lies. The branches of a `where` may have values
// everywhere; which indices select a branch is known only when pass `lower` has turned its
// condition into an expression of loops.
#ifndef TG_PASSES_KERNELIZE_CONCATENATE_H_
#define TG_PASSES_KERNELIZE_CONCATENATE_H_

#include <optional>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/target.h"

namespace tg::kernelize {

// Rewrites the prepared graph `body`. A sum stays as it is if its pieces overlap, or if they are so
// few that reading all of them is cheaper than a buffer. Elements of the buffer that no piece
// covers are set to 0. Updates `fused` (prepare.h). Returns the assigns that write pieces; their
// results are not read before all pieces of the buffer are written.
NodeSet WriteConcatenations(Module& module, Body& body, ShapeMap& shapes,
                            const passes::Target& target, NodeSet& fused, UOpSpan order);

// A box of elements: the range [begin, end) along each axis.
using Ranges = std::vector<std::pair<int64_t, int64_t>>;

// The target of an assign, if it is a box of a buffer: the buffer or a reshape of it, and the box.
struct Slice {
  const UOp* of = nullptr;
  Ranges ranges;
};
std::optional<Slice> SliceOf(const UOp* target);

// Whether two boxes of the same value are disjoint.
bool AreDisjoint(const Ranges& a, const Ranges& b);

// The box that is the union of these disjoint boxes; nullopt if their union is not a box.
std::optional<Ranges> UnionOf(const std::vector<Ranges>& parts);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_CONCATENATE_H_
