// Recurrent layers: loops over the sequence, or a few steps one after the other.
#ifndef TG_FRONTEND_ONNX_RECURRENT_H_
#define TG_FRONTEND_ONNX_RECURRENT_H_

#include <functional>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// Multiplies rows by a direction's weights, for gates [first, last); the result is [rows, gates *
// hidden]. `which` is the node's input with the weights (1: for the sequence, 2: recurrent).
using GateProduct =
    std::function<Value(Value rows, size_t which, int64_t direction, int64_t first, int64_t last)>;

// Imports a node with the inputs and attributes of LSTM, GRU or RNN, depending on its operator.
void ImportRecurrent(NodeContext& c, const GateProduct& product);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_RECURRENT_H_
