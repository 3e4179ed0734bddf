// Which loads are preceded by a request to read further ahead.
#ifndef TG_CODEGEN_OPENCL_READ_AHEAD_H_
#define TG_CODEGEN_OPENCL_READ_AHEAD_H_

#include <cstdint>

#include "ir/module.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/target.h"

namespace tg::opencl {

// How far ahead, in bytes: what a core reads in a few times the latency of memory.
inline constexpr int64_t kReadAheadBytes = 4096;

// Returns loads of loops that go along several rows of one large buffer at once, by less than a
// cache line in each step, as products of a vector and a matrix of small numbers do. Processors
// find one sequence of addresses, and several that advance by lines; here they find the next line
// late. The result has one load for each row and cache line. Empty on a GPU.
llvm::DenseSet<const UOp*> FindReadAhead(const Kernel& kernel, const Target& target);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_READ_AHEAD_H_
