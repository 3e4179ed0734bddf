// Scaled dot-product attention: what operators of several domains share.
#ifndef TG_FRONTEND_ONNX_ATTENTION_H_
#define TG_FRONTEND_ONNX_ATTENTION_H_

#include <limits>
#include <optional>

#include "frontend/common/attention.h"
#include "frontend/onnx/operators.h"

namespace tg::onnx {

using frontend::RotatePairs;
using frontend::SoftCap;

// [batch, length, heads * size] as [batch, heads, length, size], and back.
Value SplitHeads(GraphBuilder& g, Value x, int64_t heads);
Value JoinHeads(GraphBuilder& g, Value x);
// Repeats each head of keys or values for a group of consecutive query heads.
Value RepeatHeads(GraphBuilder& g, Value x, Value queries);
// The attribute `scale` of a node, or 1 / sqrt(size) for queries [..., size].
std::optional<double> AttentionScale(NodeContext& c, Value queries);

// Computes scale * q k^T for operands [batch, heads, length, size]. Each operand is multiplied by
// the square root of the scale, so that products of narrow floats do not overflow.
Value AttentionScores(GraphBuilder& g, Value q, Value k, double scale);

// Which keys a query may see. Positions count from the start of the keys: query i has position
// `offset` + i.
struct Visibility {
  Dim queries, keys;
  Value offset = nullptr;         // i32, a scalar or [batch, 1, 1, 1]; null: 0
  int64_t left = -1, right = -1;  // the most positions before and after its own; negative: no bound
  Value valid_keys = nullptr;     // i32 [batch, 1, 1, 1]: keys from here on are padding
};
// As bools that broadcast to [batch, heads, queries, keys]; null where every key is visible.
Value VisibleKeys(GraphBuilder& g, const Visibility& v);
// 0 where true, `hidden` elsewhere.
Value MaskBias(GraphBuilder& g, Value allowed, Scalar type,
               double hidden = -std::numeric_limits<double>::infinity());

// Softmax along the last axis, with each step rounded to x's type. `sink` is null or an additional
// score of each row, which takes part in the sum but belongs to no key.
Value AttentionSoftmax(GraphBuilder& g, Value x, Value sink = nullptr);
// Their probabilities: 0 in rows all of whose scores are -infinity.
Value ClearMaskedRows(GraphBuilder& g, Value probabilities, Value scores);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_ATTENTION_H_
