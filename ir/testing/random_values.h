// Random contents of buffers and constants.
#ifndef TG_IR_TESTING_RANDOM_VALUES_H_
#define TG_IR_TESTING_RANDOM_VALUES_H_

#include <cstdint>
#include <vector>

#include "ir/dtype.h"
#include "ir/interpret/host_buffer.h"
#include "ir/testing/rng.h"

namespace tg::testing {

enum class ValueStyle : uint8_t {
  kTame,     // small: quarters in [-4, 4], integers in [-8, 8]; no -0.0
  kWide,     // any bits of an integer; floats with full significands, most of small magnitude
  kSpecial,  // difficult values: limits, infinities, NaN, zeros of both signs, subnormals
};

// The bits of one value. NaNs are quiet without payload, so that conversions preserve them.
int64_t RandomBits(Rng& rng, Scalar s, ValueStyle style);
// If `style` is special, some elements are tame or wide.
interpret::HostBuffer RandomBuffer(Rng& rng, Scalar s, std::vector<int64_t> shape,
                                   ValueStyle style);

}  // namespace tg::testing

#endif  // TG_IR_TESTING_RANDOM_VALUES_H_
