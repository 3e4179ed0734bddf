// Parts of attention that importers share.
#ifndef TG_FRONTEND_COMMON_ATTENTION_H_
#define TG_FRONTEND_COMMON_ATTENTION_H_

#include "frontend/common/graph_builder.h"

namespace tg::frontend {

// cap * tanh(x / cap); x for a cap of 0.
Value SoftCap(GraphBuilder& g, Value x, double cap);

// Rotary embedding: rotates pairs of the first elements along the last axis by angles whose cosines
// and sines broadcast against half of them; elements beyond stay. The two of a pair are neighbours
// (interleaved), or half of the rotated elements lie between them.
Value RotatePairs(GraphBuilder& g, Value x, Value cosines, Value sines, bool interleaved);

}  // namespace tg::frontend

#endif  // TG_FRONTEND_COMMON_ATTENTION_H_
