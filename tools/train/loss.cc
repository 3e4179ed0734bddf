#include "tools/train/loss.h"

#include <cstdlib>
#include <vector>

#include "base/status.h"
#include "tools/train/spec.h"

namespace tg::train {

using frontend::GraphBuilder;
using frontend::Ints;
using frontend::Value;

absl::StatusOr<LossSpec> ParseLoss(std::string_view text) {
  LossSpec spec;
  TG_ASSIGN_OR_RETURN(SpecText parts, SpecText::Parse(text));
  if (parts.kind == "cross_entropy" || parts.kind == "nll") {
    spec.kind = LossKind::kCrossEntropy;
    spec.of_probabilities = parts.kind == "nll";
    TG_RETURN_IF_ERROR(parts.Take("smoothing", 0, 1, &spec.smoothing));
  } else if (parts.kind == "mse") {
    spec.kind = LossKind::kMeanSquare;
  } else if (parts.kind == "bce") {
    spec.kind = LossKind::kBinaryCrossEntropy;
  } else {
    return InvalidArgument("there is no loss ", Quote(parts.kind),
                           "; there are cross_entropy, nll, mse and bce");
  }
  if (parts.words.size() != 1) return InvalidArgument("write ", parts.kind, ":OUTPUT,TARGET");
  const std::string& names = parts.words[0];
  const size_t comma = names.find(',');
  if (comma == 0 || comma == std::string::npos || comma + 1 == names.size()) {
    return InvalidArgument("write ", parts.kind, ":OUTPUT,TARGET, not ", Quote(text));
  }
  spec.output = names.substr(0, comma);
  spec.target = names.substr(comma + 1);
  TG_RETURN_IF_ERROR(parts.CheckAllTaken());
  return spec;
}

TargetType TargetOf(LossKind kind, const Shape& output) {
  if (kind != LossKind::kCrossEntropy) return {Scalar::kF32, output};
  return {Scalar::kI32, Shape(output.begin(), output.end() - 1)};
}

namespace {

// The mean over all axes but the first.
Value MeanOfSample(GraphBuilder& g, Value x) {
  Ints axes;
  for (size_t i = 1; i < g.Rank(x); ++i) axes.push_back(static_cast<int64_t>(i));
  return axes.empty() ? x : g.Mean(x, axes);
}

SampleLoss CrossEntropy(GraphBuilder& g, const LossSpec& spec, Value logits, Value labels) {
  Value scores = nullptr,
        log_sum = nullptr;  // whose difference are the logarithms of probabilities
  if (spec.of_probabilities) {
    scores = g.Log(g.Max(logits, g.Like(logits, 1e-30)));
  } else {
    // Subtracting the greatest logit changes no value, so that it needs no gradient.
    scores = g.Sub(logits, g.Detach(g.Reduce(Op::kMax, logits, {-1}, true)));
    log_sum = g.Log(g.Sum(g.Exp(scores), {-1}));
  }
  const auto negated = [&](Value score) { return log_sum ? g.Sub(log_sum, score) : g.Neg(score); };
  const Dim classes = g.Extent(logits, static_cast<int64_t>(g.Rank(logits)) - 1);
  const Value is_label = g.Eq(g.Unsqueeze(labels, -1), g.Arange(Scalar::kI32, classes));
  Value loss = negated(g.Sum(g.Where(is_label, scores, g.Like(scores, 0)), {-1}));
  if (spec.smoothing > 0) {
    const Value all = negated(g.Mean(scores, {-1}));
    loss = g.Add(g.Mul(loss, g.Like(loss, 1 - spec.smoothing)),
                 g.Mul(all, g.Like(all, spec.smoothing)));
  }
  const Value chosen = g.Cast(g.ArgMax(logits, -1, false), Scalar::kI32);
  const Value right = g.Cast(g.Eq(chosen, labels), Scalar::kF32);
  return {MeanOfSample(g, loss), MeanOfSample(g, right)};
}

}  // namespace

SampleLoss MakeLoss(GraphBuilder& g, const LossSpec& spec, Value output, Value target) {
  const Scalar type = output->dtype.scalar() == Scalar::kF64 ? Scalar::kF64 : Scalar::kF32;
  const Value x = g.Cast(output, type);
  if (target->dtype.is_float()) target = g.Cast(target, type);
  switch (spec.kind) {
    case LossKind::kCrossEntropy:
      return CrossEntropy(g, spec, x, target);
    case LossKind::kMeanSquare: {
      const Value difference = g.Sub(x, target);
      return {MeanOfSample(g, g.Mul(difference, difference)), nullptr};
    }
    case LossKind::kBinaryCrossEntropy: {
      return {MeanOfSample(g, g.Sub(g.Softplus(x), g.Mul(x, target))), nullptr};
    }
  }
  return {};
}

}  // namespace tg::train
