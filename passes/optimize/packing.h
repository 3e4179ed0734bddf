// Packing on a CPU: operands whose elements for the lanes of a vector lie apart are copied, once
// for each group, into memory of its own where they are side by side (Goto and van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication", 2008). LaneCosts::Packs says which are.
#ifndef TG_PASSES_OPTIMIZE_PACKING_H_
#define TG_PASSES_OPTIMIZE_PACKING_H_

#include <vector>

#include "passes/optimize/heuristic.h"

namespace tg {

// Makes loops of the axes along which the tuner's packed loads stay the same, so that a group
// copies them once, but for a part where there would be too few groups.
void LoopOverPacked(Tuner& t);

// Puts a `staged` around these loads, or around their reshapes; `loads` are nodes of a clone of
// `kernel`'s body, `clone`, whose shapes are `shapes`.
void StagePacked(Kernel& kernel, const Body& clone, const std::vector<const UOp*>& loads,
                 ShapeMap& shapes);

// Whether what so many loads keep, with the lanes of `schedule`, is as much as they are packed for:
// an axis that the lanes are only a part of is kept whole.
bool HasRoomForPacked(const Schedule& schedule, size_t loads, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_PACKING_H_
