#include "ir/scratch.h"

#include "base/arithmetic.h"

namespace tg {

int64_t ScratchBytes(UOpSpan nodes, AddrSpace space) {
  int64_t total = 0;
  for (const UOp* u : nodes) {
    if (u->op != Op::kScratch || u->dtype.space() != space) continue;
    const int64_t bytes = SaturatingMul(u->dtype.size(), ByteSize(u->dtype.scalar()));
    total = SaturatingAdd(total, bytes);
  }
  return total;
}

}  // namespace tg
