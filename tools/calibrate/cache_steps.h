// Caches, found as steps in the rate at which one unit reads working sets of growing size.
#ifndef TG_TOOLS_CALIBRATE_CACHE_STEPS_H_
#define TG_TOOLS_CALIBRATE_CACHE_STEPS_H_

#include <span>
#include <vector>

namespace tg::calibrate {

struct SweepPoint {
  double bytes = 0;             // of the working set
  double bytes_per_second = 0;  // at which it is read again and again
};

// Working sets that are read at about one rate.
struct Plateau {
  double bytes = 0;             // the largest of them that is read at the full rate
  double bytes_per_second = 0;  // the median rate, without those next to a step
};

// Divides a sweep, by ascending bytes, into at most `most` plateaus: those whose constant rates
// have the least squared error in logarithms. A step that lowers the rate by less than a sixth, or
// raises it, is none.
std::vector<Plateau> FindPlateaus(std::span<const SweepPoint> sweep, int most);

}  // namespace tg::calibrate

#endif  // TG_TOOLS_CALIBRATE_CACHE_STEPS_H_
