// A graph over several devices from one over one. Internal to random_graph.h.
#ifndef TG_IR_TESTING_SCATTER_DEVICES_H_
#define TG_IR_TESTING_SCATTER_DEVICES_H_

#include "ir/module.h"
#include "ir/testing/rng.h"

namespace tg::testing {

// Puts each of the module's buffers on the default device or one of two others, and copies what an
// op needs from elsewhere to a device that one of its sources is on; here and there something else.
// Nothing is changed where that would copy what no memory holds.
void ScatterDevices(Module& module, Graph& graph, Rng& rng);

}  // namespace tg::testing

#endif  // TG_IR_TESTING_SCATTER_DEVICES_H_
