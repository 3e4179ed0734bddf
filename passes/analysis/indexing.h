// Maps indices of a movement op's result to indices of its source.
//
// The mapping takes one index expression per axis of the result and gives one per axis of the
// source; a pad also adds a predicate under which the source is read. Since indices are mapped
// through one op at a time, and ops are never merged into one view, every sequence of ops can be
// mapped.
#ifndef TG_PASSES_ANALYSIS_INDEXING_H_
#define TG_PASSES_ANALYSIS_INDEXING_H_

#include <vector>

#include "ir/builder.h"
#include "ir/dim.h"
#include "ir/uop.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::analysis {

// Simplifies an index or bool expression of the builder's context.
using SimplifyFn = llvm::function_ref<const UOp*(const UOp*)>;

// The position of an element: one index expression per axis, and the predicate under which the
// element exists (null: always). Where the predicate is false, the value is 0 and the indices have
// no meaning.
struct Position {
  std::vector<const UOp*> index;
  const UOp* valid = nullptr;
  friend bool operator==(const Position&, const Position&) = default;
};

// The conjunction of two predicates, either of which may be null (true).
const UOp* Both(Builder& b, const UOp* a, const UOp* c);

// The row-major element number of `index` in `shape`.
const UOp* Flatten(Builder& b, const Shape& shape, const std::vector<const UOp*>& index,
                   SimplifyFn simplify);
// The inverse of Flatten: the indices in `shape` of element number `flat`.
std::vector<const UOp*> Unflatten(Builder& b, const Shape& shape, const UOp* flat,
                                  SimplifyFn simplify);

// A group of axes of a reshape: axes [from_begin, from_end) of its source and [to_begin, to_end) of
// its result hold the same elements. `same`: the group has one axis on each side, of the same size.
struct ReshapeGroup {
  size_t from_begin, from_end, to_begin, to_end;
  bool same;
};
// Divides the axes of both shapes into the smallest such groups, from the left. Symbolic
// extents are compared as products of symbols.
llvm::SmallVector<ReshapeGroup, 6> GroupReshape(const Shape& from, const Shape& to);

// Maps `at`, a position in movement op `u` (shape `to`), to the position of the same element in the
// op's source (shape `from`). The op is not `view` (view_index.h). `clause`, if not null, receives
// the predicate that a pad adds (null: none).
Position MapThrough(Builder& b, const UOp* u, const Shape& from, const Shape& to,
                    const Position& at, const UOp** clause, SimplifyFn simplify);

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_INDEXING_H_
