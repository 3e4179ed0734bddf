// Memory that a kernel takes for itself.
#ifndef TG_IR_SCRATCH_H_
#define TG_IR_SCRATCH_H_

#include <cstdint>

#include "ir/dtype.h"
#include "ir/uop.h"

namespace tg {

// Bytes of the scratch ops of `space` among `nodes`, each of which is there once; INT64_MAX where
// 64 bits do not hold them.
int64_t ScratchBytes(UOpSpan nodes, AddrSpace space);

}  // namespace tg

#endif  // TG_IR_SCRATCH_H_
