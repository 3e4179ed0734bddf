// A model of where lanes are in registers, and the number of shuffles that it takes to reorder
// them.
#ifndef TG_PASSES_DEVECTORIZE_LANE_POSITIONS_H_
#define TG_PASSES_DEVECTORIZE_LANE_POSITIONS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/uop.h"
#include "ir/walk.h"

namespace tg::devectorize {

// The place of each lane. Consecutive places mean adjacent lanes of one register, equal places mean
// one value, and a constant has the place kAnywhere.
using Positions = std::span<const int32_t>;
inline constexpr int32_t kAnywhere = -1;

// The places of the lanes of vectors, computed on demand.
class LanePositions {
 public:
  Positions Of(const UOp* u);

 private:
  // Positions of vector lanes are below kScalars, places of scalars above.
  static constexpr int32_t kScalars = 1 << 30;
  static int32_t Scalar(const UOp* u);
  void Find(const UOp* u);
  Positions Known(const UOp* u) const;

  NodeMap<uint32_t> start_;  // 1 + the start in places_; 0: not computed
  std::vector<int32_t> places_;
  int32_t next_ = 0;
};

// The number of shuffles that move these lanes of a value into registers of `width` lanes: one for
// each pair of successive lanes of a register that do not have equal or consecutive places.
int Shuffles(Positions places, std::span<const int64_t> lanes, int width);
// The same for all lanes in order, and for lanes of a value whose places are consecutive.
int Shuffles(Positions places, int width);
int Shuffles(std::span<const int64_t> lanes, int width);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_LANE_POSITIONS_H_
