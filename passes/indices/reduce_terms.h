// Emits the reduce of terms that are lanes and iterations.
#ifndef TG_PASSES_INDICES_REDUCE_TERMS_H_
#define TG_PASSES_INDICES_REDUCE_TERMS_H_

#include <vector>

#include "ir/builder.h"
#include "ir/free_leaves.h"

namespace tg::indices {

// `x` combined over the iterations of `ranges` (LowerReduces makes the loop). x itself if there are
// none.
const UOp* ReduceLoops(Builder& b, Op op, const UOp* x, const std::vector<const UOp*>& ranges);

// `x` combined over the lanes of `unrolls`, which become lanes of one vector. Along an axis on
// which x does not depend, all terms are equal and x is repeated.
const UOp* ReduceLanes(Builder& b, FreeLeaves& free, Op op, const UOp* x,
                       const std::vector<const UOp*>& unrolls);

// `x` combined over both. The lanes are combined after the loops if that needs at most
// `max_accumulators` registers, else in each iteration.
const UOp* ReduceTerms(Builder& b, FreeLeaves& free, Op op, const UOp* x,
                       const std::vector<const UOp*>& unrolls,
                       const std::vector<const UOp*>& ranges, int64_t max_accumulators);

}  // namespace tg::indices

#endif  // TG_PASSES_INDICES_REDUCE_TERMS_H_
