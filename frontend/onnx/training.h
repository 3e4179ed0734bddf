// What the import of a model for steps of training declares and writes.
#ifndef TG_FRONTEND_ONNX_TRAINING_H_
#define TG_FRONTEND_ONNX_TRAINING_H_

#include <vector>

#include "frontend/common/graph_builder.h"
#include "frontend/onnx/training_options.h"
#include "ir/module.h"

namespace tg::onnx {

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
