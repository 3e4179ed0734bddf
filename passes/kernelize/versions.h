// Versions of a buffer, and which part of the buffer each is.
//
// A version is a buffer's contents on entry (`buffer`) or after some writes (`assign`, `after`).
// The value of an assign to a view is that view, so a version need not be the whole buffer: it is a
// view of the buffer, through the movement ops of every assign that it is written through.
#ifndef TG_PASSES_KERNELIZE_VERSIONS_H_
#define TG_PASSES_KERNELIZE_VERSIONS_H_

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {

class Context;

bool IsVersion(const UOp* u);
// The version that an assign's target is a view of.
const UOp* TargetVersion(const UOp* target);

// Appends the movement ops that lead from the memory to `place`, a version or a view of one; the
// last op comes first. Returns the memory: a buffer, or an `after` of a computed value.
const UOp* AppendPlacement(const UOp* place, llvm::SmallVectorImpl<const UOp*>& out);
// Whether there are such ops.
bool IsView(const UOp* place);
// Whether `place` is all of its memory in order, so that these ops are reshapes.
bool IsWholeMemory(const UOp* place);

// Applies these movement ops, of which the last comes first, to `x`.
const UOp* WithMovement(Context& context, UOpSpan movement, const UOp* x);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_VERSIONS_H_
