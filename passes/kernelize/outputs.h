// Turns the results of a graph into assigns.
#ifndef TG_PASSES_KERNELIZE_OUTPUTS_H_
#define TG_PASSES_KERNELIZE_OUTPUTS_H_

#include "ir/devices.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"

namespace tg {

// The new root of `body`: `sink %v -> @y` with `assign(buffer @y, %v)` in place of %v; what else
// used %v reads the assign. A value without elements is no result, nor one that nobody can see.
// `map`: what became of the old nodes. `devices`: of what it holds; null: all are on one.
const UOp* AssignOutputs(const Module& module, Body& body, ShapeMap& shapes,
                         const NodeMap<const UOp*>& map, DeviceMap* devices);

// Whether the shape has an extent of 0, or a symbolic extent that can only be 0.
bool HasNoElements(const Module& module, const Context& context, const Shape& shape);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_OUTPUTS_H_
