// How a model that is imported for steps of training differs from the model of a run.
#ifndef TG_FRONTEND_ONNX_TRAINING_OPTIONS_H_
#define TG_FRONTEND_ONNX_TRAINING_OPTIONS_H_

#include <cstdint>
#include <string>

namespace tg::onnx {

enum class OnnxMeaning {
  kOfModel,  // what the node's attributes and inputs say
  kOfRun,
  kOfTraining,
};

struct OnnxTrainingOptions {
  OnnxMeaning batch_norm = OnnxMeaning::kOfModel, dropout = OnnxMeaning::kOfModel;
  // Of training: the name of an input f32[batch], which is declared. Sample i counts as much as
  // element i says in the statistics of a batch.
  std::string sample_weights;
  // Of training: the name of a state u64[], which is declared and counts the steps. The masks of
  // Dropout depend on it and on the seed.
  std::string draws;
  uint64_t seed = 0;
  // Whether a BatchNormalization of a run becomes a part of the weights of the convolution before
  // it. That saves nothing where weights change in each step.
  bool fold_norms = true;
};

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_TRAINING_OPTIONS_H_
