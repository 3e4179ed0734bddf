// Normalisations.
#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"

namespace tg::onnx {
namespace {

Ints AxesFrom(int64_t first, size_t rank) {
  Ints axes;
  for (int64_t i = first; i < static_cast<int64_t>(rank); ++i) axes.push_back(i);
  return axes;
}

// A vector of one element a channel, against [batch, channels, ...].
Value PerChannel(NodeContext& c, Value v, size_t rank) {
  if (!v) return nullptr;
  Shape shape(rank, Dim(1));
  shape[1] = c.g.NumElements(c.g.ShapeOf(v));
  return c.g.Reshape(v, shape);
}

// The means over all axes but the channels'. With `weights`, f32[batch], the elements of a sample
// count as much as its weight says.
class MeanOfBatch {
 public:
  MeanOfBatch(GraphBuilder& g, Value x, Value weights) : g_(g), axes_(AxesFrom(2, g.Rank(x))) {
    axes_.insert(axes_.begin(), 0);
    if (!weights) return;
    const Scalar type = x->dtype.scalar();
    Shape shape(g.Rank(x), Dim(1));
    shape[0] = g.Extent(x, 0);
    weights_ = g.Cast(g.Reshape(weights, shape), type);
    Shape space = g.ShapeOf(x);
    space.erase(space.begin(), space.begin() + 2);
    const Value count = g.Mul(g.Sum(weights_, {0}, true), g.DimValue(type, g.NumElements(space)));
    share_ = g.Recip(count);
  }

  Value operator()(Value x) const {
    if (!weights_) return g_.Mean(x, axes_, true);
    return g_.Mul(g_.Sum(g_.Mul(x, weights_), axes_, true), share_);
  }

 private:
  GraphBuilder& g_;
  Ints axes_;
  Value weights_ = nullptr, share_ = nullptr;
};

void BatchNormalization(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const size_t rank = c.g.Rank(x);
  const double epsilon = c.Float("epsilon", 1e-5f);
  const Scalar type = x->dtype.scalar();
  const Scalar wide = BitWidth(type) < 32 ? Scalar::kF32 : type;
  const auto at = [&](size_t i) { return PerChannel(c, c.g.Cast(c.In(i), wide), rank); };
  const Value mean = at(3), variance = at(4);
  const Value w = c.g.Cast(x, wide);
  TrainingImport* training = c.Training();
  const OnnxMeaning meaning = training ? training->options().batch_norm : OnnxMeaning::kOfModel;
  const bool is_step = meaning == OnnxMeaning::kOfTraining;
  if (is_step || (meaning == OnnxMeaning::kOfModel && c.Int("training_mode", 0))) {
    const MeanOfBatch mean_of(c.g, w, is_step ? training->SampleWeights(x) : nullptr);
    const Value now = mean_of(w), centred = c.g.Sub(w, now);
    const Value spread = mean_of(c.g.Mul(centred, centred));
    const double m = c.Float("momentum", 0.9f);
    const auto running = [&](Value old, Value current, size_t output) {
      const Value mixed =
          c.g.Add(c.g.Mul(old, c.g.Like(old, m)), c.g.Mul(current, c.g.Like(old, 1 - m)));
      const Value in = c.In(output + 2);
      if (!in) return;
      const Value next = c.g.Cast(c.g.Reshape(mixed, c.g.ShapeOf(in)), in->dtype.scalar());
      if (is_step) training->Write(in, next);
      c.Return(next, output);
    };
    running(mean, now, 1);
    running(variance, spread, 2);
    // The mean is taken out first: a product by the factor might be much greater than the result.
    const Value factor = c.g.Div(at(1), c.g.Sqrt(c.g.Add(spread, c.g.Like(w, epsilon))));
    return c.Return(c.g.Cast(c.g.Add(c.g.Mul(centred, factor), at(2)), type));
  }
  if (meaning == OnnxMeaning::kOfRun) {
    for (const size_t output : {1, 2}) c.Return(c.Input(output + 2), output);
  }
  // As one factor and one summand a channel, which depend on weights alone.
  const Value scale = c.g.Div(at(1), c.g.Sqrt(c.g.Add(variance, c.g.Like(w, epsilon))));
  const Value shift = c.g.Sub(at(2), c.g.Mul(mean, scale));
  if (c.IsOnlyReader(0) && (!training || training->options().fold_norms)) {
    if (const Value folded = c.g.ScaleConv(x, scale, shift)) return c.Return(folded);
  }
  c.Return(c.g.Cast(c.g.Add(c.g.Mul(w, scale), shift), type));
}

void InstanceNormalization(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const size_t rank = c.g.Rank(x);
  const Value n = c.g.Normalize(x, AxesFrom(2, rank), c.Float("epsilon", 1e-5f));
  c.Return(c.g.Add(c.g.Mul(n, PerChannel(c, c.In(1), rank)), PerChannel(c, c.In(2), rank)));
}

void LayerNormalization(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const auto axis = c.g.Axis(c.Int("axis", -1), c.g.Rank(x));
  if (!axis) return;
  const Ints axes = AxesFrom(*axis, c.g.Rank(x));
  const Scalar type = x->dtype.scalar();
  const Value w = c.g.Cast(x, BitWidth(type) < 32 ? Scalar::kF32 : type);
  const Value mean = c.g.Mean(w, axes, true), centred = c.g.Sub(w, mean);
  const Value variance = c.g.Mean(c.g.Mul(centred, centred), axes, true);
  const Value factor =
      c.g.Recip(c.g.Sqrt(c.g.Add(variance, c.g.Like(w, c.Float("epsilon", 1e-5f)))));
  Value y = c.g.Mul(c.g.Cast(c.g.Mul(centred, factor), type), c.In(1));
  if (c.Has(2)) y = c.g.Add(y, c.In(2));
  c.Return(y);
  c.Return(mean, 1);
  c.Return(factor, 2);
}

void RmsNormalization(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const auto axis = c.g.Axis(c.Int("axis", -1), c.g.Rank(x));
  if (!axis) return;
  const Scalar type = x->dtype.scalar();
  const Value w = c.g.Cast(x, BitWidth(type) < 32 ? Scalar::kF32 : type);
  const Value square = c.g.Mean(c.g.Mul(w, w), AxesFrom(*axis, c.g.Rank(x)), true);
  const Value factor = c.g.Recip(c.g.Sqrt(c.g.Add(square, c.g.Like(w, c.Float("epsilon", 1e-5f)))));
  const Value y = c.g.Cast(c.g.Mul(w, factor), type);
  c.Return(c.g.Mul(y, c.g.Cast(c.In(1), type)));
}

void GroupNormalization(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const Shape shape = c.g.ShapeOf(x);
  const int64_t groups = c.Int("num_groups", 1);
  if (shape.size() < 3 || shape[1].is_symbolic() || groups < 1 || shape[1].value() % groups != 0) {
    c.Fail(absl::StrCat(groups, " groups of the channels of ", c.g.Describe(x)));
    return;
  }
  Shape split{shape[0], Dim(groups), Dim(shape[1].value() / groups)};
  split.insert(split.end(), shape.begin() + 2, shape.end());
  Value n =
      c.g.Normalize(c.g.Reshape(x, split), AxesFrom(2, split.size()), c.Float("epsilon", 1e-5f));
  n = c.g.Reshape(n, shape);
  // Before opset 21 there is one scale a group.
  const auto spread = [&](Value v) {
    if (c.opset < 21) v = c.g.RepeatInterleave(v, 0, shape[1].value() / groups);
    return PerChannel(c, v, shape.size());
  };
  c.Return(c.g.Add(c.g.Mul(n, spread(c.In(1))), spread(c.In(2))));
}

void MeanVarianceNormalization(NodeContext& c) {
  const Value x = c.In(0);
  const Ints axes = c.List("axes").value_or(Ints{0, 2, 3});
  const Value centred = c.g.Sub(x, c.g.Mean(x, axes, true));
  const Value deviation = c.g.Sqrt(c.g.Mean(c.g.Mul(centred, centred), axes, true));
  c.Return(c.g.Div(centred, c.g.Add(deviation, c.g.Like(x, 1e-9))));
}

void LpNormalization(NodeContext& c) {
  const Value x = c.In(0);
  const int64_t axis = c.Int("axis", -1);
  const Value norm = c.Int("p", 2) == 1 ? c.g.Sum(c.g.Abs(x), {axis}, true)
                                        : c.g.Sqrt(c.g.Sum(c.g.Mul(x, x), {axis}, true));
  // A vector of zeros stays zero: it is divided by 1.
  const Value zero = c.g.Like(x, 0);
  const Value length = c.g.Where(c.g.Eq(norm, zero), c.g.Like(x, 1), norm);
  c.Return(c.g.Div(x, length));
}

void Lrn(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const int64_t size = c.Int("size", 1);
  const double alpha = c.Float("alpha", 1e-4f), beta = c.Float("beta", 0.75),
               bias = c.Float("bias", 1);
  // The window goes along the channels.
  GraphBuilder::Window w{{size}, {1}, {1}, {(size - 1) / 2}, {size / 2}};
  const Value squares = c.g.SwapAxes(c.g.Mul(x, x), 1, -1);
  const Value sum = c.g.SwapAxes(c.g.Sum(c.g.Windows(squares, w, nullptr), {-1}), 1, -1);
  const Value base =
      c.g.Add(c.g.Mul(sum, c.g.Like(x, alpha / static_cast<double>(size))), c.g.Like(x, bias));
  c.Return(c.g.Div(x, c.g.Pow(base, c.g.Like(x, beta))));
}

void SkipLayerNormalization(NodeContext& c) {
  const bool simplified = c.node.op.starts_with("SkipSimplified");
  Value x = c.g.Add(c.In(0), c.In(1));
  // Inputs: input, skip, gamma, [beta,] bias.
  const size_t bias = simplified ? 3 : 4;
  if (c.Has(bias)) x = c.g.Add(x, c.In(bias));
  const double epsilon = c.Float("epsilon", 1e-12f);
  Value y = nullptr;
  if (simplified) {
    const Value square = c.g.Mean(c.g.Mul(x, x), {-1}, true);
    y = c.g.Div(x, c.g.Sqrt(c.g.Add(square, c.g.Like(x, epsilon))));
  } else {
    y = c.g.Normalize(x, {-1}, epsilon);
  }
  y = c.g.Mul(y, c.In(2));
  if (!simplified && c.Has(3)) y = c.g.Add(y, c.In(3));
  c.Return(y);
  c.Return(x, 3);
}

// Embeddings of words, positions and segments, summed and normalised.
void EmbedLayerNormalization(NodeContext& c) {
  const Value words = c.In(0);
  if (!words || c.g.Rank(words) != 2) {
    c.Fail("words of another rank than 2");
    return;
  }
  const Dim batch = c.g.Extent(words, 0), length = c.g.Extent(words, 1);
  Value sum = c.g.Gather(c.In(2), words, 0);
  sum = c.g.Add(sum, c.Has(8) ? c.g.Gather(c.In(3), c.In(8), 0) : c.g.Slice(c.In(3), 0, 0, length));
  if (c.Has(1)) sum = c.g.Add(sum, c.g.Gather(c.In(4), c.In(1), 0));
  const Value n = c.g.Normalize(sum, {-1}, c.Float("epsilon", 1e-12f));
  c.Return(c.g.Add(c.g.Mul(n, c.In(5)), c.In(6)));
  // How many words of each row are not masked.
  const Value mask = c.Optional(7);
  const Value one = c.g.ConstInt(Scalar::kI32, 1), none = c.g.ConstInt(Scalar::kI32, 0);
  c.Return(mask ? c.g.Sum(c.g.Where(c.g.Eq(mask, c.g.Like(mask, 1)), one, none), {1})
                : c.g.Full({batch}, none),
           1);
  c.Return(sum, 2);
}

constexpr Operator kNormalizationOperators[] = {
    {"", "BatchNormalization", 6, BatchNormalization, 5, 2},
    {"", "GroupNormalization", 18, GroupNormalization, 3, 2},
    {"", "InstanceNormalization", 1, InstanceNormalization, 3, 2},
    {"", "LRN", 1, Lrn, 1, 2},
    {"", "LayerNormalization", 17, LayerNormalization},
    {"", "LpNormalization", 1, LpNormalization},
    {"", "MeanVarianceNormalization", 9, MeanVarianceNormalization},
    {"", "RMSNormalization", 23, RmsNormalization},
    // Exporters write these in the standard's domain.
    {"", "SimplifiedLayerNormalization", 1, RmsNormalization},
    {"com.microsoft", "EmbedLayerNormalization", 1, EmbedLayerNormalization},
    {"com.microsoft", "SkipLayerNormalization", 1, SkipLayerNormalization},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", 1, SkipLayerNormalization},
};

}  // namespace

std::span<const Operator> NormalizationOperators() { return kNormalizationOperators; }

}  // namespace tg::onnx
