// Losses.
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"

namespace tg::onnx {
namespace {

// For each element of `target`, [batch, ...]: the negative of log_prob, [batch, classes, ...], at
// that class; weighted by class, and reduced.
Value NegativeLogLikelihood(NodeContext& c, Value log_prob, Value target, Value weight) {
  GraphBuilder& g = c.g;
  if (!log_prob || !target) return nullptr;
  if (g.Rank(log_prob) < 2 || g.Rank(target) + 1 != g.Rank(log_prob)) {
    return c.Fail(absl::StrCat("classes ", g.Describe(target), " for ", g.Describe(log_prob)));
  }
  const Value picked = g.Squeeze(g.GatherElements(log_prob, g.Unsqueeze(target, 1), /*axis=*/1), 1);
  Value loss = g.Neg(picked);
  if (!loss) return nullptr;
  Value factor = weight ? g.Gather(weight, target, 0) : nullptr;
  if (c.Find("ignore_index")) {
    // The class to ignore may lie outside of the classes.
    const Value ignored =
        g.Eq(target, g.ConstInt(target->dtype.scalar(), c.Int("ignore_index", 0)));
    const Value none = g.Like(loss, 0);
    factor = g.Where(ignored, none, factor ? factor : g.Like(loss, 1));
    loss = g.Where(ignored, none, loss);
  }
  if (factor) loss = g.Mul(loss, factor);
  const std::string_view reduction = c.String("reduction", "mean");
  if (reduction == "none" || !loss) return loss;
  Ints axes;
  for (size_t i = 0; i < g.Rank(loss); ++i) axes.push_back(static_cast<int64_t>(i));
  if (reduction == "sum") return g.Sum(loss, axes);
  if (reduction != "mean") return c.Fail("the reduction '" + std::string(reduction) + "'");
  if (!factor) return g.Mean(loss, axes);
  return g.Div(g.Sum(loss, axes), g.Sum(factor, axes));
}

void NegativeLogLikelihoodLoss(NodeContext& c) {
  c.Return(NegativeLogLikelihood(c, c.In(0), c.In(1), c.Optional(2)));
}

void SoftmaxCrossEntropyLoss(NodeContext& c) {
  const Value log_prob = c.g.LogSoftmax(c.In(0), 1);
  c.Return(NegativeLogLikelihood(c, log_prob, c.In(1), c.Optional(2)));
  c.Return(log_prob, 1);
}

constexpr Operator kLossOperators[] = {
    {"", "NegativeLogLikelihoodLoss", 12, NegativeLogLikelihoodLoss},
    {"", "SoftmaxCrossEntropyLoss", 12, SoftmaxCrossEntropyLoss},
};

}  // namespace

std::span<const Operator> LossOperators() { return kLossOperators; }

}  // namespace tg::onnx
