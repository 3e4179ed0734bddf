// Transposes squares of vectors in rounds of shuffles of two: what is copied with rows as lanes is
// loaded a row at a time, and each vector that is stored has a lane of every row. Written so, lane
// by lane, a device's compiler makes about as many shuffles of a square as it has lanes; a round
// has one for each vector, and there are log2(n) rounds.
#ifndef TG_PASSES_DEVECTORIZE_TRANSPOSE_H_
#define TG_PASSES_DEVECTORIZE_TRANSPOSE_H_

#include "ir/module.h"
#include "ir/walk.h"

namespace tg {

// Of all n vectors of n lanes (a power of two, 4 or more), vector k of lane k of each of the same n
// values. Last of all steps: others see through shuffles.
void TransposeSquares(Body& body, RootOrder& order);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_TRANSPOSE_H_
