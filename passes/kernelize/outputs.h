// Turns the results of a graph into assigns.
#ifndef TG_PASSES_KERNELIZE_OUTPUTS_H_
#define TG_PASSES_KERNELIZE_OUTPUTS_H_

#include "ir/devices.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"

namespace tg {

// The new root of `body`: replaces %v in `sink %v -> @y` by `assign(buffer @y, %v)`, which the
// other users of %v read too. A value without elements is dropped, and so is one without a buffer
// that nobody can see: an index, or a constant of no device. `map`: the replacements of old nodes.
// `devices`: the devices of the nodes; null if there is only one.
const UOp* AssignOutputs(const Module& module, Body& body, ShapeMap& shapes,
                         const NodeMap<const UOp*>& map, DeviceMap* devices);

// Whether the shape has an extent of 0, or a symbolic extent that can only be 0.
bool HasNoElements(const Module& module, const Context& context, const Shape& shape);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_OUTPUTS_H_
