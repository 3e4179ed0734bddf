#include "frontend/onnx/classes.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace tg::onnx {

Value TransformScores(NodeContext& c, Value scores, std::string_view transform) {
  GraphBuilder& g = c.g;
  if (transform == "NONE") return scores;
  if (transform == "SOFTMAX") return g.Softmax(scores, -1);
  if (transform == "LOGISTIC") return g.Sigmoid(scores);
  if (transform == "SOFTMAX_ZERO") {
    // Softmax over the scores that are not zero; zeros stay zero.
    const Value zero = g.Like(scores, 0), counts = g.Ne(scores, zero);
    const Value e = g.Exp(g.Sub(scores, g.Reduce(Op::kMax, scores, {-1}, true)));
    const Value weights = g.Where(counts, e, zero), sum = g.Sum(weights, {-1}, true);
    return g.Div(weights, g.Where(g.Eq(sum, zero), g.Like(sum, 1), sum));
  }
  return c.Fail("post_transform '" + std::string(transform) + "'");
}

void ReturnClasses(NodeContext& c, Value scores, const Ints& labels, const SingleScore& single) {
  GraphBuilder& g = c.g;
  if (!scores) return;
  const Dim columns = g.Extent(scores, 1);
  const bool is_single = columns.Is(1) && labels.size() != 1;
  if (!labels.empty() && !columns.Is(is_single ? 1 : static_cast<int64_t>(labels.size()))) {
    c.Fail(absl::StrCat(labels.size(), " labels for the scores ", g.Describe(scores)));
    return;
  }
  if (is_single && !labels.empty() && labels.size() != 2) {
    c.Fail(absl::StrCat("one score for ", labels.size(), " labels"));
    return;
  }
  if (c.Wants(0)) {
    if (labels.empty()) {
      c.Fail("labels that are text");
      return;
    }
    const Value chosen =
        is_single
            ? g.Cast(g.Squeeze(g.Gt(scores, g.Like(scores, single.threshold)), 1), Scalar::kI64)
            : g.ArgMax(scores, 1, /*keep=*/false);
    c.Return(g.Gather(g.Constant1D(Scalar::kI64, labels), chosen, 0));
  }
  const std::string_view transform = c.String("post_transform", "NONE");
  if (!is_single) {
    c.Return(g.Cast(TransformScores(c, scores, transform), Scalar::kF32), 1);
    return;
  }
  // Only a logistic function is applied to one score.
  const bool is_logistic = transform == "LOGISTIC";
  const Value first =
      !is_logistic && single.is_probability ? g.Sub(g.Like(scores, 1), scores) : g.Neg(scores);
  const Value pair[] = {first, scores};
  const Value both = g.Concat(pair, 1);
  c.Return(g.Cast(is_logistic ? g.Sigmoid(both) : both, Scalar::kF32), 1);
}

}  // namespace tg::onnx
