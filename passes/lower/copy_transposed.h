// Recognises stores that transpose rows of memory.
#ifndef TG_PASSES_LOWER_COPY_TRANSPOSED_H_
#define TG_PASSES_LOWER_COPY_TRANSPOSED_H_

#include "ir/builder.h"
#include "ir/free_leaves.h"

namespace tg::lower {

// A `copy_transposed` that is equivalent to storing all lanes of `x` at `address`. Null if there is
// none.
const UOp* MakeCopyTransposed(Builder& b, FreeLeaves& free, const UOp* address, const UOp* x);

}  // namespace tg::lower

#endif  // TG_PASSES_LOWER_COPY_TRANSPOSED_H_
