// Where the lanes of values stand, and what it costs to have them in another order.
#ifndef TG_PASSES_DEVECTORIZE_LANE_PLACES_H_
#define TG_PASSES_DEVECTORIZE_LANE_PLACES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/uop.h"
#include "ir/walk.h"

namespace tg {

// One place a lane. A lane that has the place after its neighbour's follows it in some register;
// lanes with one place are one value; a constant's place is kAnywhere.
using Places = std::span<const int32_t>;
inline constexpr int32_t kAnywhere = -1;

// The places of the lanes of vectors, found when they are first asked for.
class LanePlaces {
 public:
  Places Of(const UOp* u);

 private:
  // Of the lanes of vectors; those of scalars are above.
  static constexpr int32_t kScalars = 1 << 30;
  static int32_t Scalar(const UOp* u);
  void Find(const UOp* u);
  Places Known(const UOp* u) const;

  NodeMap<uint32_t> start_;  // 1 + that in places_; 0: not found yet
  std::vector<int32_t> places_;
  int32_t next_ = 0;
};

// Shuffles that put these lanes of a value into registers of `width` lanes: one for every two
// neighbours in a register that do not stand side by side.
int Shuffles(Places places, std::span<const int64_t> lanes, int width);
// The same of all lanes in their order, and of lanes of a value that has its own side by side.
int Shuffles(Places places, int width);
int Shuffles(std::span<const int64_t> lanes, int width);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_LANE_PLACES_H_
