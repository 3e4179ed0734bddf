// Parts of attention that importers share.
#ifndef TG_FRONTEND_COMMON_ATTENTION_H_
#define TG_FRONTEND_COMMON_ATTENTION_H_

#include "frontend/common/graph_builder.h"

namespace tg::frontend {

// cap * tanh(x / cap); x for a cap of 0.
Value SoftCap(GraphBuilder& g, Value x, double cap);

// Rotary embedding. Rotates pairs of elements along the last axis by angles whose cosines and sines
// are given; these broadcast against one element of each pair. Elements beyond the pairs are not
// changed. With `interleaved` the two elements of a pair are neighbours; otherwise the distance
// between them is half of the rotated elements.
Value RotatePairs(GraphBuilder& g, Value x, Value cosines, Value sines, bool interleaved);

}  // namespace tg::frontend

#endif  // TG_FRONTEND_COMMON_ATTENTION_H_
