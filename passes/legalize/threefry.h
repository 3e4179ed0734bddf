// Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
// 1, 2, 3", 2011) on vectors of u64 counters and keys, in u32 arithmetic.
#ifndef TG_PASSES_LEGALIZE_THREEFRY_H_
#define TG_PASSES_LEGALIZE_THREEFRY_H_

#include "ir/builder.h"

namespace tg::legalize {

// The low word of each u64 is the cipher's word 0.
const UOp* Threefry(Builder& b, const UOp* counter, const UOp* key);

}  // namespace tg::legalize

#endif  // TG_PASSES_LEGALIZE_THREEFRY_H_
