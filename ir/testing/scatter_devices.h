// Distributes a graph of one device over several devices. Internal to random_graph.h.
#ifndef TG_IR_TESTING_SCATTER_DEVICES_H_
#define TG_IR_TESTING_SCATTER_DEVICES_H_

#include "ir/module.h"
#include "ir/testing/rng.h"

namespace tg::testing {

// Places each of the module's buffers on the default device or one of two others. Copies the
// sources of an op to a device that holds one of them, and occasionally copies other values.
// Changes nothing if that would copy a value that has no memory.
void ScatterDevices(Module& module, Graph& graph, Rng& rng);

}  // namespace tg::testing

#endif  // TG_IR_TESTING_SCATTER_DEVICES_H_
