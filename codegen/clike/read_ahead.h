// Chooses loads before which the kernel requests the memory further ahead (a software prefetch).
#ifndef TG_CODEGEN_CLIKE_READ_AHEAD_H_
#define TG_CODEGEN_CLIKE_READ_AHEAD_H_

#include <cstdint>

#include "ir/module.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/target.h"

namespace tg::clike {

// The distance of a request in bytes: what a core reads in a few times the latency of memory.
inline constexpr int64_t kReadAheadBytes = 4096;

// Returns loads in loops that read several rows of one large buffer at the same time, each by less
// than a cache line per iteration. The product of a vector and a matrix of small numbers is such a
// loop. Processors recognise one ascending sequence of addresses, or several that advance by whole
// lines; in these loops they would fetch the next line late. The result has one load for each row
// and cache line. It is empty on a GPU.
llvm::DenseSet<const UOp*> FindReadAhead(const Kernel& kernel, const passes::Target& target);

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_READ_AHEAD_H_
