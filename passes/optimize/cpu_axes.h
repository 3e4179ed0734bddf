// What kernels of every kind do with their axes on a CPU.
#ifndef TG_PASSES_OPTIMIZE_CPU_AXES_H_
#define TG_PASSES_OPTIMIZE_CPU_AXES_H_

#include <string>
#include <string_view>

#include "passes/optimize/heuristic.h"
#include "passes/optimize/lanes.h"

namespace tg {

// Elements along an axis of this kind, of node `staged` if that is given, side by side; where these
// are loaded from afar, as many of each row of memory as make a square, which is transposed. True:
// groups are chosen too, such that each reads and writes whole lines.
bool VectorizeBest(Tuner& t, AxisKind kind = AxisKind::kGlobal, const UOp* staged = nullptr);

// Results, or elements of a reduce inside a reduce, side by side, and a tile of what shares what is
// loaded for them; false: the terms of the reduces are better. `shared`: axes of what is stored
// along which some reduces stay the same.
bool VectorizeResults(Tuner& t, LoopSet shared);

// Some of the axis of that name as an opt of that name.
bool TryNamed(Tuner& t, std::string_view opt, const std::string& axis, int64_t amount);

// Makes tiles: rows of a product, channels of a convolution, the pixels of its mean.
void MakeTile(Tuner& t, const LaneCosts::Tile& tile);

// Short loops over terms in one piece; longer ones too where the padding of a window or the address
// is decided in each step, which becomes constant.
void UnrollShort(Tuner& t);

// So many that every core has its share of them, whatever a group takes.
int64_t EnoughGroups(const Tuner& t);

// A group costs some nanoseconds: enough groups, the rest as loops. `shared` axes are left alone.
void LoopOverRest(Tuner& t, LoopSet shared = 0);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_CPU_AXES_H_
