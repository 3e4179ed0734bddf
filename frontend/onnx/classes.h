// The results of the classifiers of ai.onnx.ml: labels, and transformed scores.
#ifndef TG_FRONTEND_ONNX_CLASSES_H_
#define TG_FRONTEND_ONNX_CLASSES_H_

#include <string_view>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// The scores [batch, classes] with this post_transform applied.
Value TransformScores(NodeContext& c, Value scores, std::string_view transform);

// For models of two classes with a single score, which is the score of the second class. That class
// is chosen if the score exceeds the threshold.
struct SingleScore {
  double threshold = 0;
  bool is_probability = false;  // the first class has 1 - score, otherwise -score
};

// Sets the node's results: the label and the transformed scores of each row. `scores`: [batch,
// classes], or [batch, 1] for two classes. `labels` is empty if the model's labels are text, which
// is an error if the label is used.
void ReturnClasses(NodeContext& c, Value scores, const Ints& labels, const SingleScore& single);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_CLASSES_H_
