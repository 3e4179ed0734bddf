// Gives index arithmetic a machine type: i32 if the result and all operands of an op are known to
// fit, else i64. Afterwards no node has type index.
//
// The types introduce no overflow: a node's interval contains its value, and an op is done in i64
// if one of its operands or its result may need it.
#ifndef TG_PASSES_LEGALIZE_INDEX_TYPE_H_
#define TG_PASSES_LEGALIZE_INDEX_TYPE_H_

#include <cstdint>

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "passes/analysis/bounds.h"

namespace tg::legalize {

// For a walk over a body, sources first, that replaces each node. During the walk, an index or an
// address keeps type index; it gets its machine type where a node of another kind uses it:
//
//   ForwardRewrite(body, [&](const UOp* u, UOpSpan srcs) {
//     return types.Finish(WithSources(b, u, srcs));
//   });
class IndexTypes {
 public:
  IndexTypes(Body& body, const Module& module);

  // The walk's new node `made`, over typed sources; an index or an address is returned unchanged.
  const UOp* Finish(const UOp* made);
  // The typed form of an index, an address or a gate, for new nodes that the walk builds from it.
  const UOp* Typed(const UOp* u) { return Typed(u, UINT32_MAX); }
  // A constant index, typed.
  const UOp* Number(int64_t v) { return b_.ConstInt(TypeFor(analysis::Interval::Point(v)), v); }
  // As Typed(u), but also looks below nodes of other kinds with ids from `first_new` on, and
  // replaces the indices there.
  const UOp* Typed(const UOp* u, uint32_t first_new);

 private:
  // Node `u` with its new sources `srcs`.
  const UOp* Rewrite(const UOp* u, UOpSpan srcs);
  static Scalar TypeFor(analysis::Interval v) {
    return v.lo >= INT32_MIN && v.hi <= INT32_MAX ? Scalar::kI32 : Scalar::kI64;
  }
  // The type that holds the value of `u`, an index; of a loop or grid id, also the end of the
  // range.
  Scalar TypeOfIndex(const UOp* u);
  // Casts between i32 and i64; a constant is created in the new type.
  const UOp* As(const UOp* x, Scalar s);

  Body& body_;
  Builder b_;
  analysis::Bounds bounds_;
  NodeMap<const UOp*> typed_;  // null: not computed, or unchanged
};

}  // namespace tg::legalize

#endif  // TG_PASSES_LEGALIZE_INDEX_TYPE_H_
