// Losses of a model's output, as nodes of its graph.
#ifndef TG_TOOLS_TRAIN_LOSS_H_
#define TG_TOOLS_TRAIN_LOSS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "frontend/common/graph_builder.h"

namespace tg::train {

enum class LossKind { kCrossEntropy, kMeanSquare, kBinaryCrossEntropy };

// `cross_entropy:logits,labels`: the kind, the model's output, and the name of what it is compared
// with in the data.
struct LossSpec {
  LossKind kind = LossKind::kCrossEntropy;
  std::string output, target;
  bool of_probabilities = false;  // of cross_entropy: the output has them instead of logits
  double smoothing = 0;  // of cross_entropy: share of the weight that all classes get alike
};

absl::StatusOr<LossSpec> ParseLoss(std::string_view text);

// The type and shape that the target must have for an output of this shape.
struct TargetType {
  Scalar scalar = Scalar::kF32;
  Shape shape;
};
TargetType TargetOf(LossKind kind, const Shape& output);

// What is computed of an output [batch, ...] and a target: the loss of each sample, and for
// cross_entropy the share of its labels that have the greatest logit; f32[batch], or the loss of an
// output of f64 in f64.
struct SampleLoss {
  frontend::Value loss = nullptr, accuracy = nullptr;
};
SampleLoss MakeLoss(frontend::GraphBuilder& g, const LossSpec& spec, frontend::Value output,
                    frontend::Value target);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_LOSS_H_
