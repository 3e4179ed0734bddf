// Memory that a kernel allocates.
#ifndef TG_IR_SCRATCH_H_
#define TG_IR_SCRATCH_H_

#include <cstdint>

#include "ir/dtype.h"
#include "ir/uop.h"

namespace tg {

// Total size in bytes of the scratch ops of `space` in `nodes`, which has no duplicates. INT64_MAX
// on overflow.
int64_t ScratchBytes(UOpSpan nodes, AddrSpace space);

}  // namespace tg

#endif  // TG_IR_SCRATCH_H_
