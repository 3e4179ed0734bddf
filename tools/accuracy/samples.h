// Arguments that functions are measured on.
#ifndef TG_TOOLS_ACCURACY_SAMPLES_H_
#define TG_TOOLS_ACCURACY_SAMPLES_H_

#include <cstdint>
#include <vector>

#include "ir/dtype.h"
#include "tools/accuracy/functions.h"

namespace tg::accuracy {

struct Arguments {
  std::vector<int64_t> x, y;  // bits; y of one-argument functions is empty
};

// All values of a type of up to 16 bits, for a function of one argument.
// Else about `count`: special values, subnormals, every exponent, the neighbourhoods of what is
// difficult for the function (multiples of pi/2, 1, powers of two, where results overflow or
// vanish), and random bits. In random order, so that lanes of one vector differ as much as they
// can.
Arguments Samples(const Function& function, Scalar scalar, int64_t count, uint64_t seed);

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_SAMPLES_H_
