// A DenseMap key of two 32-bit numbers, such as a node's id and the number of a position. The two
// numbers in one 64-bit integer would be a bad key: LLVM hashes only its lower half, so all keys
// with equal lower halves would share one probe sequence.
#ifndef TG_PASSES_ANALYSIS_ID_PAIR_H_
#define TG_PASSES_ANALYSIS_ID_PAIR_H_

#include <cstdint>
#include <utility>

#include "llvm/ADT/DenseMapInfo.h"

namespace tg::analysis {

using IdPair = std::pair<uint32_t, uint32_t>;

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_ID_PAIR_H_
