// Transposes n vectors of n lanes in log2(n) rounds. Each round computes every vector by one
// shuffle of two vectors of the round before.
#ifndef TG_IR_TRANSPOSE_H_
#define TG_IR_TRANSPOSE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "llvm/ADT/SmallVector.h"

namespace tg {

// A vector of a round: concatenates `lanes` of vector `first` of the previous round and the same
// lanes of `second`, and then takes the concatenation's lanes in the order `order`. Compilers keep
// this as one shuffle if it is written as a concatenation of halves.
struct TransposeStep {
  size_t first, second;
  llvm::SmallVector<int64_t, 16> lanes, order;
};

namespace transpose_internal {

// Takes every second run of `run` lanes from each of the two vectors of `n` lanes, starting with
// the second run if `odd`. The result alternates between the vectors every `turn` lanes.
inline TransposeStep Step(size_t first, size_t second, size_t n, size_t run, bool odd,
                          size_t turn) {
  TransposeStep step = {first, second, {}, {}};
  for (size_t at = odd ? run : 0; at < n; at += 2 * run) {
    for (size_t k = at; k < at + run; ++k) step.lanes.push_back(static_cast<int64_t>(k));
  }
  for (size_t at = 0; at < n / 2; at += turn) {
    for (const size_t half : {at, n / 2 + at}) {
      for (size_t k = half; k < half + turn; ++k) step.order.push_back(static_cast<int64_t>(k));
    }
  }
  return step;
}

}  // namespace transpose_internal

// The rounds for n vectors (a power of two, 4 or more), by the size of an element in bytes. Lanes
// within a block move by perfect shuffles (Stone, "Parallel Processing with the Perfect Shuffle",
// 1971), blocks by exchanging halves (Eklundh, "A Fast Computer Method for Matrix Transposing",
// 1972).
inline std::vector<std::vector<TransposeStep>> TransposeRounds(size_t n, int64_t bytes) {
  // Shuffles within a block of this size, in bytes, have the lowest latency.
  constexpr int64_t kBlockBytes = 16;
  const size_t block = std::min(n, std::max<size_t>(static_cast<size_t>(kBlockBytes / bytes), 1));
  std::vector<std::vector<TransposeStep>> rounds;
  for (size_t done = 1; done < block; done *= 2) {
    auto& round = rounds.emplace_back();
    for (size_t i = 0; i < n; ++i) {
      const size_t pair = i / block * block + i % block / 2;
      round.push_back(
          transpose_internal::Step(pair, pair + block / 2, n, block / 2, i % 2 != 0, 1));
    }
  }
  for (size_t run = block; run < n; run *= 2) {
    auto& round = rounds.emplace_back();
    for (size_t i = 0; i < n; ++i) {
      const size_t low = i & ~run;
      round.push_back(transpose_internal::Step(low, low + run, n, run, low != i, run));
    }
  }
  return rounds;
}

}  // namespace tg

#endif  // TG_IR_TRANSPOSE_H_
