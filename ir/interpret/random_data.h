// Random buffers for tests: the same seed gives the same data on every machine.
#ifndef TG_IR_INTERPRET_RANDOM_DATA_H_
#define TG_IR_INTERPRET_RANDOM_DATA_H_

#include <cstdint>
#include <vector>

#include "ir/dtype.h"
#include "ir/interpret/host_buffer.h"
#include "ir/module.h"

namespace tg::interpret {

struct RandomDataOptions {
  uint64_t seed = 0;
  // If true, about one element in eight is special: NaN, infinities, -0.0, denormals and the
  // largest finite numbers; for integers the smallest, the largest, 0, 1 and -1. If false, floats
  // are finite, of magnitude about 1, and never 0; integers are small if `small_integers` is set.
  bool special_values = false;
  // Integers in [-8, 8) (unsigned: [0, 16)) rather than from the whole range.
  bool small_integers = true;
  // Floats are small multiples of 1/4, so that short sums are exact in every order.
  bool exact_sums = false;
};

HostBuffer RandomBuffer(DType dtype, std::vector<int64_t> shape, const RandomDataOptions& options);

// Buffers for everything that a module reads: inputs, states, and params without values in the
// text. Each depends on the seed and its name only.
HostBuffers RandomInputs(const Module& module, const VarValues& vars,
                         const RandomDataOptions& options);

// The shape of a declared buffer under `vars`, which must hold its variables.
std::vector<int64_t> ShapeUnder(const BufferDecl& decl, const VarValues& vars);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_RANDOM_DATA_H_
