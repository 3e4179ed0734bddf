// Gives address arithmetic a machine type: i32 where an index, and all that it is computed from in
// one op, is known to fit; i64 elsewhere. Afterwards nothing has type index.
//
// Nothing overflows that did not overflow as `index`: a node's interval contains its value, and an
// op is done in i64 as soon as one of its operands or its result may need it.
#ifndef TG_PASSES_DECOMPOSE_INDEX_TYPE_H_
#define TG_PASSES_DECOMPOSE_INDEX_TYPE_H_

#include <cstdint>

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "passes/analysis/bounds.h"

namespace tg {

// For a walk over a body, sources first, that makes a new node of each. An index, and an address by
// one, stays what it is while the walk has to do with it, and gets its type where something else
// uses it:
//
//   ForwardRewrite(body, [&](const UOp* u, UOpSpan srcs) {
//     return types.Finish(WithSources(b, u, srcs));
//   });
class IndexTypes {
 public:
  IndexTypes(Body& body, const Module& module);

  // What the walk has made of a node, over typed sources; an index or an address as it is.
  const UOp* Finish(const UOp* made);
  // An index, an address or a gate, typed, where the walk puts it into something else itself.
  const UOp* Typed(const UOp* u) { return Typed(u, UINT32_MAX); }
  // The index that is this number, typed.
  const UOp* Number(int64_t v) { return b_.ConstInt(TypeFor(Interval::Point(v)), v); }
  // What has such beneath it, in nodes of ids from `first_new` on, over typed ones.
  const UOp* Typed(const UOp* u, uint32_t first_new);

 private:
  // Node `u`, whose sources have become `srcs`.
  const UOp* Rewrite(const UOp* u, UOpSpan srcs);
  static Scalar TypeFor(Interval v) {
    return v.lo >= INT32_MIN && v.hi <= INT32_MAX ? Scalar::kI32 : Scalar::kI64;
  }
  // The type that the value of `u`, an index, is kept in.
  Scalar KeptAs(const UOp* u);
  // i32 or i64 as the other; a constant has its type at once.
  const UOp* As(const UOp* x, Scalar s);

  Body& body_;
  Builder b_;
  Bounds bounds_;
  NodeMap<const UOp*> typed_;  // null: not yet, or nothing to be done
};

}  // namespace tg

#endif  // TG_PASSES_DECOMPOSE_INDEX_TYPE_H_
