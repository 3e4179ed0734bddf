// Cuts accesses at a vector of addresses into accesses at one address each.
//
// Lanes whose addresses are consecutive elements under one gate become one wide access, cut to the
// target's width and (unless it takes any alignment) to starts that are known to be multiples of
// it. Lanes with one address share a load. A gate that is known decides: such a load is its
// alternative, such a store is gone.
//
// Register scratch at constant indices is cut at the same boundaries by all accesses to it, in
// pieces of the width of arithmetic, so that each piece can be a variable. Register scratch at any
// other index becomes private scratch.
//
// A store that becomes several has several tokens; where one is needed they are joined by a `noop`.
#ifndef TG_PASSES_DEVECTORIZE_MEMORY_H_
#define TG_PASSES_DEVECTORIZE_MEMORY_H_

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/decompose/index_type.h"
#include "passes/target.h"

namespace tg {

struct MemoryStatistics {
  int64_t wide_accesses = 0;    // that move more than one element
  int64_t scalar_accesses = 0;  // made from lanes that fit nowhere else
};

// `types`: the walk's, which types the addresses. `other`: what else the walk makes of a node that
// is no access, given its new sources; null where that is nothing. An error where an image is not
// stored to by texels.
absl::StatusOr<MemoryStatistics> CutMemory(
    Body& body, const Module& module, const Target& target, UOpSpan order, IndexTypes& types,
    llvm::function_ref<const UOp*(const UOp* u, UOpSpan srcs)> other);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_MEMORY_H_
