// What the classifiers of ai.onnx.ml make of their scores.
#ifndef TG_FRONTEND_ONNX_CLASSES_H_
#define TG_FRONTEND_ONNX_CLASSES_H_

#include <string_view>

#include "frontend/onnx/operators.h"

namespace tg::onnx {

// The scores [batch, classes] with this post_transform applied.
Value TransformScores(NodeContext& c, Value scores, std::string_view transform);

// One score for two classes: it is that of the second, which is chosen above the threshold.
struct SingleScore {
  double threshold = 0;
  bool is_probability = false;  // the first class has 1 - score, otherwise -score
};

// Returns the label and the transformed scores of each row of [batch, classes] or, of two classes,
// [batch, 1]. Without labels, those of the model are text, which cannot be returned.
void ReturnClasses(NodeContext& c, Value scores, const Ints& labels, const SingleScore& single);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_CLASSES_H_
