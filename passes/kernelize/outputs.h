// Turns the results of a graph into assigns.
#ifndef TG_PASSES_KERNELIZE_OUTPUTS_H_
#define TG_PASSES_KERNELIZE_OUTPUTS_H_

#include "ir/devices.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"

namespace tg::kernelize {

// Returns the new root of `body`, in which each %v in `sink %v -> @y` is replaced by `assign(buffer
// @y, %v)`; the other users of %v read the assign too. Drops values without elements, and values
// without a buffer that nothing can observe: indices, and constants on no device. `map`: the
// replacements of old nodes. `devices`: the devices of the nodes; null if there is only one.
const UOp* AssignOutputs(const Module& module, Body& body, ShapeMap& shapes,
                         const NodeMap<const UOp*>& map, DeviceMap* devices);

// Whether the shape has an extent of 0, or a symbolic extent that can only be 0.
bool HasNoElements(const Module& module, const Context& context, const Shape& shape);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_OUTPUTS_H_
