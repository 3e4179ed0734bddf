// Matrix products.
#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"

namespace tg::onnx {
namespace {

void MatMul(NodeContext& c) { c.Return(c.g.MatMul(c.In(0), c.In(1))); }

void Gemm(NodeContext& c) {
  Value a = c.In(0), b = c.In(1);
  if (c.Int("transA", 0)) a = c.g.SwapAxes(a, 0, 1);
  if (c.Int("transB", 0)) b = c.g.SwapAxes(b, 0, 1);
  Value y = c.g.MatMul(a, b);
  const double alpha = c.Float("alpha", 1), beta = c.Float("beta", 1);
  if (alpha != 1) y = c.g.Mul(y, c.g.Like(y, alpha));
  if (c.Has(2) && beta != 0) {
    Value bias = c.In(2);
    if (beta != 1) bias = c.g.Mul(bias, c.g.Like(bias, beta));
    y = c.g.Add(y, bias);
  }
  c.Return(y);
}

void Einsum(NodeContext& c) { c.Return(c.g.Einsum(c.String("equation", ""), c.Ins())); }

void FusedMatMul(NodeContext& c) {
  Value a = c.In(0), b = c.In(1);
  if (c.Int("transA", 0)) a = c.g.SwapAxes(a, -1, -2);
  if (c.Int("transB", 0)) b = c.g.SwapAxes(b, -1, -2);
  if (c.Int("transBatchA", 0) || c.Int("transBatchB", 0)) {
    c.Fail("transBatchA and transBatchB are not read");
    return;
  }
  const Value y = c.g.MatMul(a, b);
  c.Return(c.g.Mul(y, c.g.Like(y, c.Float("alpha", 1))));
}

// Gaussian elimination; the row with the greatest element of a column is its pivot.
void Det(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0);
  if (!x) return;
  const size_t rank = g.Rank(x);
  const Dim n = rank < 2 ? Dim(0) : g.Extent(x, static_cast<int64_t>(rank) - 1);
  if (rank < 2 || n.is_symbolic() || g.Extent(x, static_cast<int64_t>(rank) - 2) != n) {
    c.Fail(absl::StrCat("the determinant of ", g.Describe(x)));
    return;
  }
  if (n.value() > kMaxUnrolledIterations) {
    c.Fail(absl::StrCat("the determinant of ", g.Describe(x), ", of more than ",
                        kMaxUnrolledIterations, " rows"));
    return;
  }
  const Scalar type = x->dtype.scalar();
  Value m = g.Cast(x, BitWidth(type) < 32 ? Scalar::kF32 : type);
  Shape batch = g.ShapeOf(x);
  batch.resize(rank - 2);
  Value product = g.Full(batch, g.Like(m, 1));
  for (int64_t left = n.value(); left > 0 && m; --left) {
    const Value column = g.Slice(m, -1, 0, 1);
    const Value first = g.Slice(m, -2, 0, 1);  // [..., 1, left]
    const Value place = g.ArgMax(g.Abs(column), -2, true);
    const Value is_pivot = g.Eq(place, g.Unsqueeze(g.Arange(Scalar::kI64, Dim(left)), 1));
    const Value row = g.Reduce(Op::kAdd, g.Where(is_pivot, m, g.Like(m, 0)), {-2}, true);
    const Value pivot = g.Slice(row, -1, 0, 1);  // [..., 1, 1]
    const Value swaps = g.Ne(place, g.Like(place, 0));
    product = g.Mul(product, g.Reshape(g.Where(swaps, g.Neg(pivot), pivot), batch));
    if (left == 1) break;
    // The first row takes the pivot's place. A column of zeros has nothing to eliminate.
    const Value rest = g.Slice(g.Where(is_pivot, first, m), -2, 1, left);
    const Value divisor = g.Where(g.Ne(pivot, g.Like(pivot, 0)), pivot, g.Like(pivot, 1));
    const Value factor = g.Div(g.Slice(rest, -1, 0, 1), divisor);
    m = g.Sub(g.Slice(rest, -1, 1, left), g.Mul(factor, g.Slice(row, -1, 1, left)));
  }
  c.Return(g.Cast(product, type), 0, c.TypeOf(0));
}

constexpr Operator kContractionOperators[] = {
    {"", "Det", 11, Det},
    {"", "Einsum", 12, Einsum},
    {"", "Gemm", 6, Gemm},
    {"", "MatMul", 1, MatMul},
    {"com.microsoft", "FusedMatMul", 1, FusedMatMul},
};

}  // namespace

std::span<const Operator> ContractionOperators() { return kContractionOperators; }

}  // namespace tg::onnx
