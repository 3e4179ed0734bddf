// Recurrent layers whose products are of integers.
#include "frontend/onnx/quantization.h"
#include "frontend/onnx/recurrent.h"

namespace tg::onnx {
namespace {

void DynamicQuantizeLstm(NodeContext& c) {
  GraphBuilder& g = c.g;
  // Weights are [directions, inputs, gates * hidden]. Their scales and zero points are additional
  // inputs after those of LSTM, one for each direction or for each of its columns.
  ImportRecurrent(c, [&](Value rows, size_t which, int64_t direction, int64_t first, int64_t last) {
    const Value all = c.In(which), r = c.In(2);
    const size_t parameters = which == 1 ? 8 : 10;
    if (!all || !r || !rows || !c.In(parameters) || !c.In(parameters + 1)) return Value{nullptr};
    const int64_t hidden = g.Extent(r, 1).value();
    const auto pick = [&](Value v) {
      v = g.Squeeze(g.Slice(v, 0, direction, direction + 1), 0);
      return g.Rank(v) == 0 ? v : g.Slice(v, -1, first * hidden, last * hidden);
    };
    const DynamicQuantization x = QuantizeDynamically(g, rows);
    const Value w = Centred(g, pick(all), pick(c.In(parameters + 1)));
    const Value sums = g.Cast(g.MatMul(Centred(g, x.codes, x.zero), w), rows->dtype.scalar());
    return g.Mul(sums, g.Mul(pick(c.In(parameters)), x.scale));
  });
}

constexpr Operator kQuantizedRecurrentOperators[] = {
    {"com.microsoft", "DynamicQuantizeLSTM", 1, DynamicQuantizeLstm},
};

}  // namespace

std::span<const Operator> QuantizedRecurrentOperators() { return kQuantizedRecurrentOperators; }

}  // namespace tg::onnx
