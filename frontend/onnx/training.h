// How a model that is imported for steps of training differs from the model of a run.
#ifndef TG_FRONTEND_ONNX_TRAINING_H_
#define TG_FRONTEND_ONNX_TRAINING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/common/graph_builder.h"
#include "ir/module.h"

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

class TrainingImport {
 public:
  // All outlive it.
  TrainingImport(const OnnxTrainingOptions& options, Module& module, frontend::GraphBuilder& g)
      : options_(options), module_(module), g_(g) {}

  const OnnxTrainingOptions& options() const { return options_; }

  // What each element of axis 0 of `x` counts, f32[n]. Null, with an error of the builder, if there
  // are others with another number of elements.
  frontend::Value SampleWeights(frontend::Value x);
  // The number of the step, u64[].
  frontend::Value Draws();
  // The step writes `value` into a param, which becomes a state. An error of the builder if
  // `param` is none, or is written already.
  void Write(frontend::Value param, frontend::Value value);
  // All writes of the step, as roots of its graph.
  std::vector<frontend::Value> TakeWrites();

 private:
  const OnnxTrainingOptions& options_;
  Module& module_;
  frontend::GraphBuilder& g_;
  frontend::Value weights_ = nullptr, draws_ = nullptr;
  std::vector<frontend::Value> writes_;
};

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_TRAINING_H_
