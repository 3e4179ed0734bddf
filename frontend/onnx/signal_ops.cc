// Fourier transforms and what goes with them.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/sampling.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

// Up to here a transform is one product with a matrix.
constexpr int64_t kMatrixLength = 32;

// The most numbers of a table, which is part of the module.
constexpr int64_t kMaxTable = int64_t{1} << 22;

// The cosine of 2 pi * numerator / n.
double CosOf(int64_t numerator, int64_t n) {
  return std::cos(2 * std::numbers::pi * static_cast<double>(numerator % n) /
                  static_cast<double>(n));
}
double SinOf(int64_t numerator, int64_t n) {
  return std::sin(2 * std::numbers::pi * static_cast<double>(numerator % n) /
                  static_cast<double>(n));
}

Value Table(GraphBuilder& g, Scalar type, const Ints& shape, const std::vector<double>& numbers) {
  Ints bits;
  for (const double v : numbers) bits.push_back(BitsFromDouble(type, v));
  return g.Constant(type, shape, std::move(bits));
}

// The cosines and sines, [m, n], of the terms that elements 1 to m contribute to the n results. If
// n is even, the last one counts half.
std::pair<Value, Value> Waves(GraphBuilder& g, Scalar type, int64_t n, int sign) {
  const int64_t m = n / 2;
  std::vector<double> cosines, sines;
  if (n <= kMatrixLength) {
    for (int64_t i = 1; i <= m; ++i) {
      for (int64_t k = 0; k < n; ++k) {
        cosines.push_back(CosOf(i * k, n) * (2 * i == n ? 0.5 : 1));
        sines.push_back(sign * SinOf(i * k, n));
      }
    }
    return {Table(g, type, {m, n}, cosines), Table(g, type, {m, n}, sines)};
  }
  // A prime length: the roots of unity are a table that elements are gathered from.
  for (int64_t i = 0; i < n; ++i) {
    cosines.push_back(CosOf(i, n));
    sines.push_back(sign * SinOf(i, n));
  }
  const Value one = g.ConstInt(Scalar::kI64, 1), k = g.Arange(Scalar::kI64, Dim(n));
  const Value i = g.Unsqueeze(g.Add(g.Arange(Scalar::kI64, Dim(m)), one), 1);
  const Value root = g.Binary(Op::kFloorMod, g.Mul(i, k), g.ConstInt(Scalar::kI64, n));
  return {g.Gather(Table(g, type, {n}, cosines), root, 0),
          g.Gather(Table(g, type, {n}, sines), root, 0)};
}

// Transforms x, [rows, parts, n], by a matrix product. Elements i and n - i have the same cosine
// and opposite sines, so that their sum and their difference are multiplied: that halves the
// products, and symmetric inputs cancel exactly.
Value TransformByProduct(GraphBuilder& g, Value x, int sign) {
  const int64_t parts = g.Extent(x, 1).value(), n = g.Extent(x, 2).value(), m = n / 2;
  const auto in_second_part = [&](Value v, int64_t before) {
    return g.Pad(v, {{0, 0}, {before, 1 - before}, {0, 0}});
  };
  Value y = g.Slice(x, 2, 0, 1);
  if (n == 1) return parts == 1 ? in_second_part(y, 0) : y;
  const Value rest = g.Slice(x, 2, 1, n), reversed = g.Flip(rest, {2});
  const auto [cosines, sines] = Waves(g, x->dtype.scalar(), n, sign);
  const Value even = g.MatMul(g.Slice(g.Add(rest, reversed), 2, 0, m), cosines);
  const Value odd = g.MatMul(g.Slice(g.Sub(rest, reversed), 2, 0, m), sines);
  y = g.Add(y, even);
  if (parts == 1) return g.Add(in_second_part(y, 0), in_second_part(odd, 1));
  const Value signs = Table(g, x->dtype.scalar(), {2, 1}, {-1, 1});
  return g.Add(y, g.Mul(g.Flip(odd, {1}), signs));
}

// The first factor of a transform's length: the length itself where it is one product.
int64_t FirstFactor(int64_t n) {
  for (int64_t f = std::min(n, kMatrixLength); f > 1; --f) {
    if (n % f == 0) return f;
  }
  for (int64_t f = kMatrixLength; f * f <= n; ++f) {
    if (n % f == 0) return f;
  }
  return n;
}

// The unscaled Fourier transforms of the rows of x, [rows, parts, n], in f32 or f64, where `parts`
// is 1 (real) or 2 (real and imaginary). Returns [rows, 2, n]. `sign` is the sign of the exponent.
Value Transform(GraphBuilder& g, Value x, int sign) {
  if (!x) return nullptr;
  const Dim rows = g.Extent(x, 0), parts = g.Extent(x, 1);
  const int64_t n = g.Extent(x, 2).value(), a = FirstFactor(n), b = n / a;
  if (b == 1) return TransformByProduct(g, x, sign);
  // Cooley and Tukey's factorization: element i * b + j contributes to result p + a * q, where i
  // and p are below a, and j and q below b.
  x = g.Permute(g.Reshape(x, {rows, parts, Dim(a), Dim(b)}), {0, 3, 1, 2});
  x = Transform(g, g.Reshape(x, {g.MulDim(rows, Dim(b)), parts, Dim(a)}), sign);
  x = g.Reshape(x, {rows, Dim(b), Dim(2), Dim(a)});
  std::vector<double> cosines, sines;
  for (int64_t j = 0; j < b; ++j) {
    for (int64_t p = 0; p < a; ++p) cosines.push_back(CosOf(j * p, n));
    for (const int part : {-1, 1}) {
      for (int64_t p = 0; p < a; ++p) sines.push_back(part * sign * SinOf(j * p, n));
    }
  }
  if (!x) return nullptr;
  const Scalar type = x->dtype.scalar();
  x = g.Add(g.Mul(x, Table(g, type, {b, 1, a}, cosines)),
            g.Mul(g.Flip(x, {2}), Table(g, type, {b, 2, a}, sines)));
  x = g.Reshape(g.Permute(x, {0, 3, 2, 1}), {g.MulDim(rows, Dim(a)), Dim(2), Dim(b)});
  x = g.Reshape(Transform(g, x, sign), {rows, Dim(a), Dim(2), Dim(b)});
  return g.Reshape(g.Permute(x, {0, 2, 3, 1}), {rows, Dim(2), Dim(n)});
}

// Along the second to last axis of x, which is static.
Value TransformRows(GraphBuilder& g, Value x, int sign) {
  if (!x) return nullptr;
  Shape shape = g.ShapeOf(x);
  const size_t rank = shape.size();
  const Dim rows = g.NumElements(Shape(shape.begin(), shape.end() - 2));
  x = g.SwapAxes(g.Reshape(x, {rows, shape[rank - 2], shape[rank - 1]}), 1, 2);
  shape.back() = Dim(2);
  return g.Reshape(g.SwapAxes(Transform(g, x, sign), 1, 2), shape);
}

bool HasParts(NodeContext& c, Value x) {
  const size_t rank = x ? c.g.Rank(x) : 0;
  if (rank > 1) {
    const Dim& parts = c.g.Extent(x, static_cast<int64_t>(rank) - 1);
    if (parts == Dim(1) || parts == Dim(2)) return true;
  }
  if (x)
    c.Fail(absl::StrCat("an input ", c.g.Describe(x), " whose last axis is not of 1 or 2 parts"));
  return false;
}

void Dft(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value given = c.In(0);
  if (!HasParts(c, given)) return;
  const size_t rank = g.Rank(given);
  int64_t asked = c.opset < 20 ? c.Int("axis", 1) : -2;
  if (c.opset >= 20 && c.Has(2)) {
    const auto known = c.KnownInt(2);
    if (!known) return;
    asked = *known;
  }
  const auto axis = g.Axis(asked, rank);
  if (!axis) return;
  if (*axis == static_cast<int64_t>(rank) - 1) {
    c.Fail("a transform along the axis of the parts");
    return;
  }
  const bool inverse = c.Int("inverse", 0) != 0, onesided = c.Int("onesided", 0) != 0;
  const bool to_real = inverse && onesided;
  const Dim& extent = g.Extent(given, *axis);
  std::optional<int64_t> length;
  if (c.Has(1)) {
    const auto known = c.KnownInts(1);
    if (!known) return;
    if (known->size() == 1) length = (*known)[0];
  } else if (!extent.is_symbolic()) {
    length = to_real ? 2 * (extent.value() - 1) : extent.value();
  }
  if (extent.is_symbolic() || !length || *length < 1 || *length > kMaxTable) {
    c.Fail(absl::StrCat("a transform of a length that is not known, below 1 or over ", kMaxTable));
    return;
  }
  const int64_t n = *length, used = to_real ? n / 2 + 1 : n;
  Value x = g.SwapAxes(AsWideFloat(g, given), *axis, -2);
  std::vector<std::pair<Dim, Dim>> widths(rank, {0, 0});
  widths[rank - 2].second = used - extent.value();
  x = g.Pad(x, widths);
  if (to_real && used < n) {
    // The rest of the spectrum of real numbers: element n - k is the conjugate of element k.
    Value rest = g.Flip(g.Slice(x, -2, 1, n - used + 1), {-2});
    if (x && g.Extent(x, static_cast<int64_t>(rank) - 1) == Dim(2)) {
      rest = g.Mul(rest, Table(g, rest->dtype.scalar(), {2}, {1, -1}));
    }
    const Value parts[] = {x, rest};
    x = g.Concat(parts, -2);
  }
  Value y = TransformRows(g, x, inverse ? 1 : -1);
  if (inverse) y = g.Mul(y, g.Like(y, 1 / static_cast<double>(n)));
  if (to_real) y = g.Slice(y, -1, 0, 1);
  if (onesided && !inverse) y = g.Slice(y, -2, 0, n / 2 + 1);
  c.Return(g.Cast(g.SwapAxes(y, *axis, -2), given->dtype.scalar()), 0, c.TypeOf(0));
}

void Stft(NodeContext& c) {
  GraphBuilder& g = c.g;
  Value given = c.In(0);
  const auto step = c.KnownInt(1);
  // Real signals may leave the axis of the parts out.
  if (given && g.Rank(given) == 2) given = g.Unsqueeze(given, -1);
  if (!step || !HasParts(c, given)) return;
  const Dim extent = g.Extent(given, 1);
  Dim length = extent;
  if (c.Has(3)) {
    const auto known = c.KnownInt(3);
    if (!known) return;
    length = *known;
  } else if (c.Has(2)) {
    length = g.Rank(c.In(2)) == 1 ? g.Extent(c.In(2), 0) : Dim(0);
  }
  if (g.Rank(given) != 3 || length.is_symbolic() || length.value() < 1 ||
      length.value() > kMaxTable) {
    c.Fail(absl::StrCat("frames of a signal ", g.Describe(given), " whose length is not known"));
    return;
  }
  const int64_t n = length.value();
  // [batch, parts, frames, n]
  const Value x = g.SwapAxes(AsWideFloat(g, given), 1, 2);
  Value frames = g.Windows(x, {{n}, {*step}, {1}, {0}, {0}}, nullptr);
  if (!frames) return;
  if (c.Has(2)) frames = g.Mul(frames, g.Cast(c.In(2), frames->dtype.scalar()));
  Value y = TransformRows(g, g.Permute(frames, {0, 2, 3, 1}), -1);
  if (c.Int("onesided", 1) != 0) y = g.Slice(y, -2, 0, n / 2 + 1);
  c.Return(g.Cast(y, given->dtype.scalar()), 0, c.TypeOf(0));
}

std::optional<Scalar> OutputType(NodeContext& c) {
  const auto type = static_cast<ElementType>(c.Int("output_datatype", 1));
  const auto scalar = ScalarFor(type);
  if (!scalar) c.Fail("the type " + std::string(TypeName(type)));
  return scalar;
}

ElementType OutputElement(NodeContext& c) {
  return static_cast<ElementType>(c.Int("output_datatype", 1));
}

// Terms factors[k] * cos(2 pi k i / length), summed.
void CosineWindow(NodeContext& c, std::span<const double> factors) {
  const auto size = c.KnownInt(0);
  const auto type = OutputType(c);
  if (!size || !type) return;
  const int64_t n = *size, length = c.Int("periodic", 1) != 0 ? n : n - 1;
  if (n < 0 || n > kMaxTable) {
    c.Fail(absl::StrCat("a window of ", n, " numbers"));
    return;
  }
  std::vector<double> window;
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (size_t k = 0; k < factors.size(); ++k) {
      sum += factors[k] * CosOf(static_cast<int64_t>(k) * i, std::max<int64_t>(length, 1));
    }
    window.push_back(sum);
  }
  c.Return(Table(c.g, *type, {n}, window), 0, OutputElement(c));
}

void BlackmanWindow(NodeContext& c) {
  constexpr double factors[] = {0.42, -0.5, 0.08};
  CosineWindow(c, factors);
}
void HammingWindow(NodeContext& c) {
  constexpr double alpha = 25.0 / 46, factors[] = {alpha, alpha - 1};
  CosineWindow(c, factors);
}
void HannWindow(NodeContext& c) {
  constexpr double factors[] = {0.5, -0.5};
  CosineWindow(c, factors);
}

void MelWeightMatrix(NodeContext& c) {
  std::vector<double> numbers;
  for (size_t i = 0; i < 5; ++i) {
    const auto known = c.KnownNumbers(i);
    if (!known || known->size() != 1) return;
    numbers.push_back((*known)[0]);
  }
  const auto type = OutputType(c);
  if (!type) return;
  const auto bands = static_cast<int64_t>(numbers[0]), length = static_cast<int64_t>(numbers[1]);
  const int64_t bins = length / 2 + 1;
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(numbers[3]), high = mel(numbers[4]);
  const double step = (high - low) / static_cast<double>(bands + 2);
  // The bin where each band begins; it peaks where the next one begins.
  const auto bin = [&](int64_t band) {
    const double hertz = 700 * (std::pow(10, (low + static_cast<double>(band) * step) / 2595) - 1);
    return static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / numbers[2]));
  };
  if (bands < 1 || length < 1 || length > kMaxTable || bands > kMaxTable / bins ||
      !(numbers[2] > 0) || bin(0) < 0 || bin(bands + 1) > bins) {
    c.Fail(absl::StrCat(bands, " bands of ", bins, " bins"));
    return;
  }
  std::vector<double> matrix(static_cast<size_t>(bins * bands), 0);
  for (int64_t i = 0; i < bands; ++i) {
    const int64_t from = bin(i), peak = bin(i + 1), to = bin(i + 2);
    const auto set = [&](int64_t j, int64_t part, int64_t of) {
      if (j >= bins) return;
      matrix[static_cast<size_t>(j * bands + i)] =
          static_cast<double>(part) / static_cast<double>(of);
    };
    for (int64_t j = from; j < peak; ++j) set(j, j - from, peak - from);
    for (int64_t j = peak; j < to; ++j) set(j, to - j, to - peak);
    set(peak, 1, 1);
  }
  c.Return(Table(c.g, *type, {bins, bands}, matrix), 0, OutputElement(c));
}

constexpr Operator kSignalOperators[] = {
    {"", "BlackmanWindow", 17, BlackmanWindow},   {"", "DFT", 17, Dft},
    {"", "HammingWindow", 17, HammingWindow},     {"", "HannWindow", 17, HannWindow},
    {"", "MelWeightMatrix", 17, MelWeightMatrix}, {"", "STFT", 17, Stft},
};

}  // namespace

std::span<const Operator> SignalOperators() { return kSignalOperators; }

}  // namespace tg::onnx
