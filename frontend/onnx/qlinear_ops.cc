// Arithmetic on quantized numbers.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/quantization.h"
#include "frontend/onnx/windows.h"

namespace tg::onnx {
namespace {

// A scale or zero point of an operand of a matrix product: a single one, one for each row of a (or
// column of b), or a tensor that already has the operand's axes.
Value ForRows(GraphBuilder& g, Value v) {
  if (!v || g.Rank(v) > 1) return v;
  return g.NumElements(g.ShapeOf(v)).Is(1) ? g.Reshape(v, {}) : g.Unsqueeze(v, 1);
}
Value ForColumns(GraphBuilder& g, Value v) {
  if (!v || g.Rank(v) > 1) return v;
  return g.NumElements(g.ShapeOf(v)).Is(1) ? g.Reshape(v, {}) : v;
}
// A scale or zero point of a convolution, which is one number or has one for each filter, shaped to
// broadcast to x, whose axis `axis` has the filters.
Value ForFilters(GraphBuilder& g, Value x, Value v, int64_t axis) {
  return v ? ScaleFor(g, x, v, axis, 0) : nullptr;
}

// The exact product of codes, in i32.
Value IntegerProduct(GraphBuilder& g, Value a, Value a_zero, Value b, Value b_zero) {
  return g.MatMul(Centred(g, a, ForRows(g, a_zero)), Centred(g, b, ForColumns(g, b_zero)));
}

void MatMulInteger(NodeContext& c) {
  c.Return(IntegerProduct(c.g, c.In(0), c.Optional(2), c.In(1), c.Optional(3)));
}

void QLinearMatMul(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value sum = IntegerProduct(g, c.In(0), c.In(2), c.In(3), c.In(5));
  const auto wide = [&](Value v) { return g.Cast(v, Scalar::kF32); };
  const Value factor = g.Mul(wide(ForRows(g, c.In(1))), wide(ForColumns(g, c.In(4))));
  const Value y = g.Mul(wide(sum), g.Div(factor, wide(ForRows(g, c.In(6)))));
  c.Return(RoundToType(g, y, ForRows(g, c.In(7)), c.TypeOf(7)), 0, c.TypeOf(7));
}

// Inputs: a, its scale and zero point, b, its scales and zero points, a bias quantized with the
// scale of the product, and the scale and zero point of the result. Without the latter the result
// is a float.
void QGemm(NodeContext& c) {
  GraphBuilder& g = c.g;
  Value a = c.In(0), b = c.In(3);
  if (c.Int("transA", 0)) a = g.SwapAxes(a, 0, 1);
  if (c.Int("transB", 0)) b = g.SwapAxes(b, 0, 1);
  Value sum = IntegerProduct(g, a, c.Optional(2), b, c.Optional(5));
  if (c.Has(6)) sum = g.Add(sum, c.In(6));
  const Value factor = g.Mul(g.Reshape(c.In(1), {}), ForColumns(g, c.In(4)));
  const Value y =
      g.Mul(g.Mul(g.Cast(sum, Scalar::kF32), factor), g.Const(Scalar::kF32, c.Float("alpha", 1)));
  if (!c.Has(7)) return c.Return(y);
  const Value zero = c.Has(8) ? g.Reshape(c.In(8), {}) : nullptr;
  const ElementType type = c.TypeOf(zero ? 8 : 0);
  c.Return(RoundToType(g, g.Div(y, g.Reshape(c.In(7), {})), zero, type), 0, type);
}

// a, b, a_scale, b_scale, a_zero, b_zero, bias.
void MatMulIntegerToFloat(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value sum = IntegerProduct(g, c.In(0), c.Optional(4), c.In(1), c.Optional(5));
  const Value factor = g.Mul(ForRows(g, c.In(2)), ForColumns(g, c.In(3)));
  if (!sum || !factor) return;
  Value y = g.Mul(g.Cast(sum, factor->dtype.scalar()), factor);
  if (c.Has(6)) y = g.Add(y, c.In(6));
  c.Return(y);
}

// a (a float, quantized here), b, b_scale, b_zero, bias.
void DynamicQuantizeMatMul(NodeContext& c) {
  GraphBuilder& g = c.g;
  const DynamicQuantization a = QuantizeDynamically(g, c.In(0));
  const Value sum = IntegerProduct(g, a.codes, a.zero, c.In(1), c.Optional(3));
  Value y = g.Mul(g.Cast(sum, Scalar::kF32), g.Mul(a.scale, ForColumns(g, c.In(2))));
  if (c.Has(4)) y = g.Add(y, c.In(4));
  c.Return(y);
}

// The exact convolution of codes, in i32. The padding is 0, not a code.
Value IntegerConv(NodeContext& c, Value x, Value x_zero, Value w, Value w_zero, Value bias) {
  GraphBuilder& g = c.g;
  const auto kernel = x ? KernelOf(c, w) : std::nullopt;
  const auto window = kernel ? WindowOf(c, x, *kernel) : std::nullopt;
  if (!window) return nullptr;
  if (x_zero) x_zero = g.Reshape(x_zero, {});
  return g.Conv(Centred(g, x, x_zero), Centred(g, w, ForFilters(g, w, w_zero, 0)), bias, *window,
                c.Int("group", 1));
}

void ConvInteger(NodeContext& c) {
  c.Return(IntegerConv(c, c.In(0), c.Optional(2), c.In(1), c.Optional(3), nullptr));
}

void QLinearConv(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value sum = IntegerConv(c, c.In(0), c.In(2), c.In(3), c.In(5), c.Optional(8));
  const Value factor = g.Mul(g.Reshape(c.In(1), {}), ForFilters(g, sum, c.In(4), 1));
  const Value y = g.Mul(g.Cast(sum, Scalar::kF32), g.Div(factor, g.Reshape(c.In(6), {})));
  c.Return(RoundToType(g, y, g.Reshape(c.In(7), {}), c.TypeOf(7)), 0, c.TypeOf(7));
}

// The number that the code of input i with the scale and zero point behind it means.
Value Number(NodeContext& c, size_t i) {
  const Value scale = c.g.Reshape(c.In(i + 1), {});
  const Value zero = c.Has(i + 2) ? c.g.Reshape(c.In(i + 2), {}) : nullptr;
  return Dequantize(c.g, c.In(i), scale, zero);
}
// Quantizes y with the scale in input i and the zero point in input i + 1. Models of older tools
// may lack the latter; then the result has the type of input `like`.
void ReturnCode(NodeContext& c, Value y, size_t i, size_t like = 0) {
  const Value zero = c.Has(i + 1) ? c.g.Reshape(c.In(i + 1), {}) : nullptr;
  const ElementType type = zero ? c.TypeOf(i + 1) : c.TypeOf(like);
  c.Return(RoundToType(c.g, c.g.Div(y, c.g.Reshape(c.In(i), {})), zero, type), 0, type);
}

template <Value (GraphBuilder::*f)(Value, Value)>
void QLinearBinary(NodeContext& c) {
  ReturnCode(c, (c.g.*f)(Number(c, 0), Number(c, 3)), 6);
}
void QLinearSigmoid(NodeContext& c) { ReturnCode(c, c.g.Sigmoid(Number(c, 0)), 3); }
void QLinearLeakyRelu(NodeContext& c) {
  const Value x = Number(c, 0), slope = c.g.Like(x, c.Float("alpha", 0.01f));
  ReturnCode(c, x ? c.g.Where(c.g.Lt(x, c.g.Like(x, 0)), c.g.Mul(x, slope), x) : nullptr, 3);
}
void QLinearSoftmax(NodeContext& c) {
  const Value x = Number(c, 0);
  if (!x) return;
  const auto axis = c.g.Axis(c.Int("axis", -1), c.g.Rank(x));
  if (!axis) return;
  // Attribute `opset` says which version of Softmax is meant: before 13 it normalized over all axes
  // from `axis` on.
  if (c.Int("opset", 13) >= 13) return ReturnCode(c, c.g.Softmax(x, *axis), 3);
  const Value rows = c.g.Flatten(x, *axis, static_cast<int64_t>(c.g.Rank(x)));
  ReturnCode(c, c.g.Reshape(c.g.Softmax(rows, *axis), c.g.ShapeOf(x)), 3);
}
void QLinearGlobalAveragePool(NodeContext& c) {
  const Value x = Number(c, 0);
  if (!x) return;
  const bool channels_last = c.Int("channels_last", 0) != 0;
  const auto rank = static_cast<int64_t>(c.g.Rank(x));
  Ints axes;
  for (int64_t i = channels_last ? 1 : 2; i < (channels_last ? rank - 1 : rank); ++i) {
    axes.push_back(i);
  }
  ReturnCode(c, c.g.Mean(x, axes, /*keep=*/true), 3);
}
// The scale and zero point of the result, then a tensor, its scale and its zero point each.
void QLinearConcat(NodeContext& c) {
  std::vector<Value> parts;
  for (size_t i = 2; i + 2 < c.num_inputs(); i += 3) parts.push_back(Number(c, i));
  ReturnCode(c, c.g.Concat(parts, c.Int("axis", 0)), 0);
}
// condition, x, its scale and zero point, y, its scale and zero point, those of the result.
void QLinearWhere(NodeContext& c) {
  ReturnCode(c, c.g.Where(c.In(0), Number(c, 1), Number(c, 4)), 7, /*like=*/1);
}

// Unpacks `count` unsigned numbers of `bits` bits along the last axis. The first number of each
// byte is in its low bits.
Value Unpack(GraphBuilder& g, Value bytes, int64_t bits, const Dim& count) {
  if (!bytes || bits == 8) return g.Slice(bytes, -1, 0, count);
  std::vector<Value> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    parts.push_back(g.And(g.Binary(Op::kShr, bytes, g.ConstInt(Scalar::kU8, shift)),
                          g.ConstInt(Scalar::kU8, (int64_t{1} << bits) - 1)));
  }
  const Value all = g.Stack(parts, -1);
  if (!all) return nullptr;
  const auto rank = static_cast<int64_t>(g.Rank(all));
  return g.Slice(g.Flatten(all, rank - 2, rank), -1, 0, count);
}

// Multiplies a, [..., K], by the transpose of b, [N, blocks, bytes], whose numbers have a few bits
// each, with one scale (and zero point) for each block of a row.
void MatMulNBits(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value a = c.In(0), b = c.In(1);
  const int64_t k = c.Int("K", 0), n = c.Int("N", 0), bits = c.Int("bits", 4);
  const int64_t block = c.Int("block_size", 0);
  if (!a || !b || !c.In(2)) return;
  if (bits != 2 && bits != 4 && bits != 8) {
    c.Fail(absl::StrCat("numbers of ", bits, " bits (2, 4 and 8 are read)"));
    return;
  }
  if (k < 1 || n < 1 || block < 1 || block * bits % 8 != 0) {
    c.Fail(absl::StrCat("K ", k, ", N ", n, ", block_size ", block));
    return;
  }
  const int64_t blocks = (k + block - 1) / block;
  const Value codes =
      Unpack(g, g.Reshape(b, {Dim(n), Dim(blocks), Dim(block * bits / 8)}), bits, Dim(block));
  const Value rows = g.Slice(g.Reshape(codes, {Dim(n), Dim(blocks * block)}), 1, 0, Dim(k));
  // The block of each column: in order, or as input 4 tells.
  const auto of_columns = [&](Value of_blocks) {
    if (c.Has(4)) return g.Gather(of_blocks, g.Slice(c.In(4), 0, 0, Dim(k)), 1);
    return g.Slice(g.RepeatInterleave(of_blocks, 1, block), 1, 0, Dim(k));
  };
  const Shape by_block{Dim(n), Dim(blocks)};
  Value zero = nullptr;
  if (!c.Has(3)) {
    zero = g.ConstInt(Scalar::kU8, int64_t{1} << (bits - 1));
  } else if (c.In(3)->dtype.is_float()) {
    zero = of_columns(g.Reshape(c.In(3), by_block));
  } else {
    const Value packed = g.Reshape(c.In(3), {Dim(n), Dim((blocks * bits + 7) / 8)});
    zero = of_columns(Unpack(g, packed, bits, Dim(blocks)));
  }
  // A zero point may be a float.
  const auto wide = [&](Value v) { return g.Cast(v, Scalar::kF32); };
  const Value scale = of_columns(g.Reshape(c.In(2), by_block));
  const Value weight = g.Mul(g.Sub(wide(rows), wide(zero)), wide(scale));
  Value y = g.MatMul(wide(a), g.SwapAxes(weight, 0, 1));
  if (c.Has(5)) y = g.Add(y, wide(c.In(5)));
  c.Return(g.Cast(y, a->dtype.scalar()));
}

constexpr Operator kQLinearOperators[] = {
    {"", "ConvInteger", 10, ConvInteger},
    {"", "MatMulInteger", 10, MatMulInteger},
    {"", "QLinearConv", 10, QLinearConv},
    {"", "QLinearMatMul", 10, QLinearMatMul},
    {"com.microsoft", "DynamicQuantizeMatMul", 1, DynamicQuantizeMatMul},
    {"com.microsoft", "MatMulIntegerToFloat", 1, MatMulIntegerToFloat},
    {"com.microsoft", "MatMulNBits", 1, MatMulNBits},
    {"com.microsoft", "QGemm", 1, QGemm},
    {"com.microsoft", "QLinearAdd", 1, QLinearBinary<&GraphBuilder::Add>},
    {"com.microsoft", "QLinearConcat", 1, QLinearConcat},
    {"com.microsoft", "QLinearGlobalAveragePool", 1, QLinearGlobalAveragePool},
    {"com.microsoft", "QLinearLeakyRelu", 1, QLinearLeakyRelu},
    {"com.microsoft", "QLinearMul", 1, QLinearBinary<&GraphBuilder::Mul>},
    {"com.microsoft", "QLinearSigmoid", 1, QLinearSigmoid},
    {"com.microsoft", "QLinearSoftmax", 1, QLinearSoftmax},
    {"com.microsoft", "QLinearWhere", 1, QLinearWhere},
};

}  // namespace

std::span<const Operator> QLinearOperators() { return kQLinearOperators; }

}  // namespace tg::onnx
