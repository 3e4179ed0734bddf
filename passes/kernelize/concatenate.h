// Rewrites concatenations, which graphs express as sums of padded pieces. If there are many pieces,
// each is written to its slice of a buffer, because the sum would read every piece per element.
//
// A chain of `where` that selects a piece by comparisons of an index stays. The branches of a sum
// are pads, which say where each piece lies; those of a `where` may have values everywhere, and
// which indices select one is known only once its condition is an expression of the loops (lower).
#ifndef TG_PASSES_KERNELIZE_CONCATENATE_H_
#define TG_PASSES_KERNELIZE_CONCATENATE_H_

#include <optional>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/target.h"

namespace tg {

// Rewrites the prepared graph `body`. Sums whose pieces overlap stay, and sums of so few pieces
// that looking at each is cheaper than a buffer. What nothing is added to is 0. `fused` (prepare.h)
// follows. Returns the assigns that write pieces, which nothing reads before all are done.
NodeSet WriteConcatenations(Module& module, Body& body, ShapeMap& shapes, const Target& target,
                            NodeSet& fused, UOpSpan order);

// The range [begin, end) along each axis.
using Ranges = std::vector<std::pair<int64_t, int64_t>>;

// Target `target` of an assign as a part of a value's axes: the value, a buffer or a reshape of
// one, and the part. Nothing where it is another view.
struct Slice {
  const UOp* of = nullptr;
  Ranges ranges;
};
std::optional<Slice> SliceOf(const UOp* target);

// Whether two parts of one value have no element in common.
bool AreDisjoint(const Ranges& a, const Ranges& b);

// The part that consists of these, which have no element in common; nothing where their union is no
// part.
std::optional<Ranges> UnionOf(const std::vector<Ranges>& parts);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_CONCATENATE_H_
