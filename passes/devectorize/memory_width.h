// Splits accesses at a vector of addresses into accesses at a single address each.
//
// Lanes that access consecutive elements under one gate become one wide access; where the target
// has masked accesses, also under different gates that compare affine expressions. It is split to
// the target's width and, unless the target allows unaligned accesses, so that each start is known
// to be a multiple of the width. Lanes with the same address share a load. If a gate is known to be
// false, a load becomes its alternative or 0, and a store is removed.
//
// Register scratch that all accesses index by constants is split into pieces of at most the
// arithmetic width, such that every access covers a piece completely or not at all. Each piece can
// then be a variable. Other register scratch becomes private scratch.
//
// A store that is split has several tokens; a `noop` joins them where a single token is required.
#ifndef TG_PASSES_DEVECTORIZE_MEMORY_WIDTH_H_
#define TG_PASSES_DEVECTORIZE_MEMORY_WIDTH_H_

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/legalize/index_type.h"
#include "passes/target.h"

namespace tg::devectorize {

struct MemoryStatistics {
  int64_t wide_accesses = 0;    // accesses of more than one element
  int64_t scalar_accesses = 0;  // accesses of one element, and lanes of strided accesses
};

// `types` gives the addresses their types during the walk. `other` returns the replacement of a
// node that is not an access, given its new sources, or null to keep the node. Fails if a store to
// an image does not cover whole texels.
absl::StatusOr<MemoryStatistics> CutMemory(
    Body& body, const Module& module, const passes::Target& target, UOpSpan order,
    legalize::IndexTypes& types, llvm::function_ref<const UOp*(const UOp* u, UOpSpan srcs)> other);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_MEMORY_WIDTH_H_
