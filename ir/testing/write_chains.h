// Random graphs that write states in place: chains of assigns to chains of views, to parts and to
// the whole, with reads of old and new contents in between.
#ifndef TG_IR_TESTING_WRITE_CHAINS_H_
#define TG_IR_TESTING_WRITE_CHAINS_H_

#include <cstdint>

#include "ir/interpret/host_buffer.h"
#include "ir/testing/random_graph.h"

namespace tg::testing {

struct WriteChains {
  RandomProgram program;
  // The final contents of states and outputs according to the memory model (array_model.h).
  interpret::HostBuffers expected;
};

WriteChains MakeWriteChains(uint64_t seed);

}  // namespace tg::testing

#endif  // TG_IR_TESTING_WRITE_CHAINS_H_
