// Writes trained weights: as a file of tensors, or as the model with them.
#ifndef TG_TOOLS_TRAIN_WRITE_MODEL_H_
#define TG_TOOLS_TRAIN_WRITE_MODEL_H_

#include <string>

#include "absl/status/status.h"
#include "ir/module.h"
#include "tools/train/checkpoint.h"

namespace tg::train {

// Writes `weights`, tensors by the names of the model's params, to `path`, by its ending:
// .safetensors, the tensors alone, named as the model's file names them; .uop, the text of `model`
// and next to it a .safetensors file, which the text names, with the contents of all params that
// files have (`others`: those of the params that are not trained).
absl::Status WriteModel(const std::string& path, const Module& model, const Tensors& weights,
                        const Tensors& others);

// Whether there is a form for a file of this name, these two or .onnx (onnx_weights.h).
absl::Status CheckOutputName(const std::string& path);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_WRITE_MODEL_H_
