// Recurrent layers, unrolled over the sequence.
#ifndef TG_FRONTEND_ONNX_RECURRENT_H_
#define TG_FRONTEND_ONNX_RECURRENT_H_

#include <functional>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// The product of rows with a direction's weights, [rows, gates * hidden]; `which` is the input with
// the weights (1: of the sequence, 2: recurrent), `first` and `last` choose among its gates.
using GateProduct =
    std::function<Value(Value rows, size_t which, int64_t direction, int64_t first, int64_t last)>;

// A node with the inputs and attributes of LSTM, GRU or RNN, which its operator's name tells.
void ImportRecurrent(NodeContext& c, const GateProduct& product);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_RECURRENT_H_
