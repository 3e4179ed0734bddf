// Compares values. Integers, bools and moved data must be equal bit for bit, floats within a
// tolerance. NaN equals NaN, and if there is any tolerance, 0 equals -0.
#ifndef TG_IR_INTERPRET_COMPARE_VALUES_H_
#define TG_IR_INTERPRET_COMPARE_VALUES_H_

#include <optional>
#include <string>

#include "ir/interpret/host_buffer.h"
#include "ir/module_flags.h"

namespace tg::interpret {

// The tolerance of a comparison of floats: the sum of these terms. If all of them are 0, bits must
// be equal, except that all NaNs are equal to each other.
struct Tolerance {
  double absolute = 0;
  double relative = 0;  // of the expected value
  double ulps = 0;      // units in the last place of the expected value
  // Adds HostBuffer::error of the expected values: the interpreter's bounds of the graph's rounding
  // errors (InterpretOptions::track_error). Applies to integers too.
  bool use_error_bounds = true;
  double scale_bounds = 1;
  // The module's flags. Used where there are no error bounds, which would include what flags allow.
  ModuleFlags flags;
};

// Describes the difference: the first element that differs, with its coordinates and both values,
// the number of differing elements, and the worst of them. Returns nullopt if there is no
// difference.
std::optional<std::string> Difference(const HostBuffer& expected, const HostBuffer& actual,
                                      const Tolerance& tolerance = {});
// The same for all buffers of `expected`; `actual` may hold more.
std::optional<std::string> Difference(const HostBuffers& expected, const HostBuffers& actual,
                                      const Tolerance& tolerance = {});

// The distance to the next number of greater magnitude, for a finite float of type `s`.
double UlpOf(Scalar s, double v);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_COMPARE_VALUES_H_
