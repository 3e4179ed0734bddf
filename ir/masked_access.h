// Masked accesses: one address whose elements are neighbours in memory, with a gate for each.
#ifndef TG_IR_MASKED_ACCESS_H_
#define TG_IR_MASKED_ACCESS_H_

#include "ir/uop.h"

namespace tg {

// The gates of the elements at an address, if it has one for each; else null.
inline const UOp* MaskOf(const UOp* address) {
  const bool is_gated =
      address->op == Op::kIndex && address->num_srcs == 3 && address->dtype.lanes() == 1;
  return is_gated && address->src(2)->dtype.lanes() > 1 ? address->src(2) : nullptr;
}

}  // namespace tg

#endif  // TG_IR_MASKED_ACCESS_H_
