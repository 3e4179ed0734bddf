// Maps the indices of a movement op's result to the indices of its source.
//
// Every movement op maps a tuple of index expressions of its result to a tuple of its source, and a
// pad adds a predicate under which the source is read. Views are never composed or merged, so the
// mapping works for every op, shape and combination.
#ifndef TG_PASSES_ANALYSIS_INDEXING_H_
#define TG_PASSES_ANALYSIS_INDEXING_H_

#include <vector>

#include "ir/builder.h"
#include "ir/dim.h"
#include "ir/uop.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {

// Simplifies an index or bool expression of the builder's context.
using SimplifyFn = llvm::function_ref<const UOp*(const UOp*)>;

// The position of an element: one `index` expression per axis, and the predicate under which it
// exists (null: always). Where the predicate is false, the element is 0 and the indices are
// meaningless.
struct Position {
  std::vector<const UOp*> index;
  const UOp* valid = nullptr;
  friend bool operator==(const Position&, const Position&) = default;
};

// The conjunction of two predicates, either of which may be null (true).
const UOp* Both(Builder& b, const UOp* a, const UOp* c);

// The row-major number of the element at `index` in `shape`.
const UOp* Flatten(Builder& b, const Shape& shape, const std::vector<const UOp*>& index,
                   SimplifyFn simplify);
// The reverse: the indices in `shape` of element number `flat`.
std::vector<const UOp*> Unflatten(Builder& b, const Shape& shape, const UOp* flat,
                                  SimplifyFn simplify);

// Axes [from_begin, from_end) of a reshape's source and [to_begin, to_end) of its result hold the
// same elements; `same`: one axis each, of one size.
struct ReshapeGroup {
  size_t from_begin, from_end, to_begin, to_end;
  bool same;
};
// The axes of both sides in the smallest groups of equal size, from the left.
llvm::SmallVector<ReshapeGroup, 6> GroupReshape(const Shape& from, const Shape& to);

// The position in the source of `u` (shape `from`) of the element at `at` in `u` (shape `to`).
// `symbols` maps each symbolic source of `u` to a node of the builder's context.
// `clause`, if not null, receives the predicate that this op alone adds (null: none).
Position MapThrough(Builder& b, const UOp* u, const Shape& from, const Shape& to,
                    const Position& at, const UOp** clause, SimplifyFn simplify);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_INDEXING_H_
