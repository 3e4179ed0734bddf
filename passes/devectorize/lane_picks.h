// Moves shuffles out of the way of arithmetic.
#ifndef TG_PASSES_DEVECTORIZE_LANE_PICKS_H_
#define TG_PASSES_DEVECTORIZE_LANE_PICKS_H_

#include "ir/module.h"
#include "passes/target.h"

namespace tg {

// Computes in the order of lanes that is asked for: where every use of an elementwise node picks
// other lanes of it, at least a vector of them, each use gets a node of its own over picked
// sources, unless that shuffles more than it saves. No lane is computed twice. `order`: what the
// root reaches, sources first.
void SinkLanePicks(Body& body, const Module& module, const Target& target, UOpSpan order);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_LANE_PICKS_H_
