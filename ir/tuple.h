// The sources of `reduce_tuple`: n values of one shape, n identities, and the combining body's n
// results, which are expressions over `carried` leaves. Leaf i < n is what number i of the tuples
// so far was combined to, leaf n + i the number i of the next tuple.
#ifndef TG_IR_TUPLE_H_
#define TG_IR_TUPLE_H_

#include <vector>

#include "ir/shape.h"
#include "ir/uop.h"
#include "ir/walk.h"

namespace tg {

inline size_t TupleSize(const UOp* u) { return u->num_srcs / 3; }
inline UOpSpan TupleValues(const UOp* u) { return u->srcs().first(TupleSize(u)); }
inline UOpSpan TupleIdentities(const UOp* u) {
  return u->srcs().subspan(TupleSize(u), TupleSize(u));
}
inline UOpSpan CombinedTuple(const UOp* u) { return u->srcs().subspan(2 * TupleSize(u)); }

// Whether both are numbers of one combined tuple.
bool IsSameTuple(const UOp* a, const UOp* b);
// The first node of `order` that combines the same tuple as `u`; `u` itself if it is no
// reduce_tuple.
const UOp* FirstOfTuple(UOpSpan order, const UOp* u);
// The result axes along which some of the values are repeated and others are not. A loop along them
// is inside the loop over terms, so that what is repeated is computed once for all of them.
std::vector<size_t> InnerAxes(const UOp* reduce_tuple, ShapeMap& shapes);

// The sources of a node that are values of the body that it is in: all, but without the combining
// body of a `reduce_tuple`.
inline UOpSpan SourcesInBody(const UOp* u) {
  return u->op == Op::kReduceTuple ? u->srcs().first(2 * TupleSize(u)) : u->srcs();
}

// The nodes that `root` reaches without entering combining bodies, sources first.
std::vector<const UOp*> OrderOutsideTuples(const UOp* root);
// The nodes of a combining body, sources first.
std::vector<const UOp*> CombiningOrder(const UOp* reduce_tuple);
// The nodes of `order` that only combining bodies reach. `order`: sources first; its last node is
// the root.
NodeSet InTuplesOnly(UOpSpan order);

}  // namespace tg

#endif  // TG_IR_TUPLE_H_
