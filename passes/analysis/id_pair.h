// The key of a DenseMap that is two 32-bit numbers, such as a node's id and the number of a
// position. As one 64-bit number it would not do: LLVM hashes that by its lower half alone, and all
// keys of one lower half would be in one probe sequence.
#ifndef TG_PASSES_ANALYSIS_ID_PAIR_H_
#define TG_PASSES_ANALYSIS_ID_PAIR_H_

#include <cstdint>
#include <utility>

#include "llvm/ADT/DenseMapInfo.h"

namespace tg {

using IdPair = std::pair<uint32_t, uint32_t>;

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_ID_PAIR_H_
