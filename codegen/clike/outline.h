// Chooses the vector functions and strided accesses of a kernel that are called instead of inlined.
// Device compilers inline every function, and a math function on a vector is a hundred
// instructions, so copies outside hot loops cost compile time and buy nothing.
#ifndef TG_CODEGEN_CLIKE_OUTLINE_H_
#define TG_CODEGEN_CLIKE_OUTLINE_H_

#include "ir/module.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/target.h"

namespace tg::clike {

// Returns the nodes of a linear kernel whose function should be called. Copies of one function are
// outlined together if they exceed Target::inlined_instructions. Copies in loops that carry
// accumulators are never outlined: a call spills every vector register.
llvm::DenseSet<const UOp*> FindOutlined(const Kernel& kernel, const passes::Target& target);

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_OUTLINE_H_
