// "The same values": integers, bools and moved data bit for bit; floats within a stated tolerance,
// NaN being equal to NaN and 0 to -0 where there is any tolerance at all.
#ifndef TG_IR_INTERPRET_COMPARE_H_
#define TG_IR_INTERPRET_COMPARE_H_

#include <optional>
#include <string>

#include "ir/interpret/host_buffer.h"

namespace tg {

// How far a float may be from the expected value: the largest of these. All 0: equal bits, save
// that every NaN equals every other.
struct Tolerance {
  double absolute = 0;
  double relative = 0;  // of the expected value
  double ulps = 0;      // units in the last place of the expected value
  // Uses HostBuffer::error of the expected values on top: what the interpreter found out about the
  // graph's own rounding (InterpretOptions::track_error). It counts for integers too.
  bool use_error_bounds = true;
  double scale_bounds = 1;
};

// What differs, or nullopt: the first element that does, its coordinates, both values, how many
// differ, and the worst of them.
std::optional<std::string> Difference(const HostBuffer& expected, const HostBuffer& actual,
                                      const Tolerance& tolerance = {});
// The same for all buffers of `expected`; `actual` may hold more.
std::optional<std::string> Difference(const HostBuffers& expected, const HostBuffers& actual,
                                      const Tolerance& tolerance = {});

// The distance to the next number of greater magnitude, for a finite float of type `s`.
double UlpOf(Scalar s, double v);

}  // namespace tg

#endif  // TG_IR_INTERPRET_COMPARE_H_
