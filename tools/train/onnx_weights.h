// The weights of an ONNX model: which they are, and where their elements are in the file.
#ifndef TG_TOOLS_TRAIN_ONNX_WEIGHTS_H_
#define TG_TOOLS_TRAIN_ONNX_WEIGHTS_H_

#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/train/checkpoint.h"

namespace tg::train {

// The initializers of floats with more than one element that an operator with weights reads: a
// product, a convolution, a norm, an embedding, or arithmetic. The statistics of
// BatchNormalization, and what is shared with them, are none.
absl::StatusOr<std::set<std::string, std::less<>>> OnnxWeights(std::string_view model);

// The initializers, each of one BatchNormalization alone, that hold its statistics.
struct OnnxStatistics {
  std::set<std::string, std::less<>> means, variances;
};
// InvalidArgument if the model has no BatchNormalization, or one whose statistics are no
// initializers, or are read by another node too.
absl::StatusOr<OnnxStatistics> StatisticsOf(std::string_view model);
// Whether a node of the graph has this operator.
absl::StatusOr<bool> HasOperator(std::string_view model, std::string_view op);

// The model's bytes with the elements of these weights replaced, by symbols of the imported module;
// all else is unchanged. InvalidArgument if the file does not store one of them in packed form.
absl::StatusOr<std::string> WithWeights(std::string_view model, const Tensors& weights);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_ONNX_WEIGHTS_H_
