// Random graphs of contractions: sums of products in any layout, with windows, padding, operands
// that are read in parts, several sums in one kernel, and operations on the sums.
#ifndef TG_IR_TESTING_CONTRACTIONS_H_
#define TG_IR_TESTING_CONTRACTIONS_H_

#include <cstdint>

#include "ir/testing/random_graph.h"

namespace tg::testing {

RandomProgram MakeContractions(uint64_t seed);

}  // namespace tg::testing

#endif  // TG_IR_TESTING_CONTRACTIONS_H_
