// Transposes squares of n vectors of n lanes in log2(n) rounds of two-operand shuffles, with one
// shuffle per vector and round. Such squares occur in a copy that loads row by row and stores
// vectors with one lane of every row. If these vectors are written as lists of lanes instead, a
// device's compiler emits about one shuffle for each lane.
#ifndef TG_PASSES_DEVECTORIZE_TRANSPOSE_SQUARE_H_
#define TG_PASSES_DEVECTORIZE_TRANSPOSE_SQUARE_H_

#include "ir/module.h"
#include "ir/walk.h"

namespace tg::devectorize {

// Applies to n vectors of n lanes (a power of two, 4 or more) of which vector k consists of lane k
// of each of the same n values. Must be the last step, because other steps look through shuffles.
void TransposeSquares(Body& body, RootOrder& order);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_TRANSPOSE_SQUARE_H_
