// Chooses loops with few steps that the device's compiler unrolls.
#ifndef TG_CODEGEN_CLIKE_UNROLL_H_
#define TG_CODEGEN_CLIKE_UNROLL_H_

#include <cstddef>

#include "ir/module.h"
#include "passes/target.h"

namespace tg::clike {

// Returns whether the compiler is asked to unroll the loop whose range is at this position of a
// linear kernel. Unrolling lets it resolve padding predicates that depend on the step, and the
// addresses of a copy with a small body.
bool ShouldUnroll(const Kernel& kernel, size_t position, const passes::Target& target);

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_UNROLL_H_
