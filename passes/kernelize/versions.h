// Versions of a buffer, and which part of the buffer each of them covers.
//
// A version is the contents of a buffer on entry (`buffer`) or after some writes (`assign`,
// `after`). The value of an assign to a view is that view. So a version need not cover the whole
// buffer: it is a view of the buffer through the movement ops of all targets that it was written
// through.
#ifndef TG_PASSES_KERNELIZE_VERSIONS_H_
#define TG_PASSES_KERNELIZE_VERSIONS_H_

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {
class Context;
}  // namespace tg

namespace tg::kernelize {

bool IsVersion(const UOp* u);
// The version that an assign's target is a view of.
const UOp* TargetVersion(const UOp* target);

// Appends the movement ops between the memory and `place`, which is a version or a view of one; the
// op closest to `place` comes first. Returns the memory: a buffer, or an `after` of a computed
// value.
const UOp* AppendPlacement(const UOp* place, llvm::SmallVectorImpl<const UOp*>& out);
// Whether there are movement ops between `place` and its memory.
bool IsView(const UOp* place);
// Whether `place` covers all of its memory in order, so that these movement ops are reshapes.
bool IsWholeMemory(const UOp* place);

// Applies movement ops, given in the order of AppendPlacement, to `x`.
const UOp* WithMovement(Context& context, UOpSpan movement, const UOp* x);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_VERSIONS_H_
