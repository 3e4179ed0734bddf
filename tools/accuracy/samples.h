// The arguments on which functions are measured.
#ifndef TG_TOOLS_ACCURACY_SAMPLES_H_
#define TG_TOOLS_ACCURACY_SAMPLES_H_

#include <cstdint>
#include <vector>

#include "ir/dtype.h"
#include "tools/accuracy/functions.h"

namespace tg::accuracy {

struct Arguments {
  std::vector<int64_t> x, y;  // bits; y is empty for a function of one argument
};

// All values of a type of up to 16 bits, for a function of one argument. Otherwise about `count`
// arguments: special values, subnormals, all exponents, neighbourhoods of the difficult arguments
// of the function (multiples of pi/2, 1, powers of two, limits of overflow and underflow), and
// random bits. The order is random, so that the lanes of one vector differ.
Arguments Samples(const Function& function, Scalar scalar, int64_t count, uint64_t seed);

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_SAMPLES_H_
