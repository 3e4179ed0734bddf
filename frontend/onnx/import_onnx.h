// Imports an ONNX model as a module with one graph. Weights stay in the model's file.
#ifndef TG_FRONTEND_ONNX_IMPORT_ONNX_H_
#define TG_FRONTEND_ONNX_IMPORT_ONNX_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/onnx/training_options.h"
#include "ir/module.h"

namespace tg::onnx {

struct OnnxImportOptions {
  // Sizes that depend on data are variables too, up to what the graph tells of them, or else to
  // default_max. Their names are "OUTPUT.AXIS", those of an output of a node and an axis, and
  // max_sizes may bound them. A run that finds a greater number is an error.
  //
  // Open dimensions, by name (dim_param, or "input.axis" for a dimension without a name). `sizes`
  // fixes a dimension; `max_sizes` makes it a variable up to this size. A dimension in neither map
  // gets its size from input_shapes, or else becomes a variable up to default_max. A variable is at
  // least 1, or 2 where the model drops axes of extent 1; a smaller size that an input is given
  // fixes the dimension. Where branches of an If differ in rank and a variable decides, it keeps
  // the sizes around that in input_shapes, or the greatest, that take one branch.
  std::map<std::string, int64_t, std::less<>> sizes;
  std::map<std::string, int64_t, std::less<>> max_sizes;
  // Shapes of inputs that will be given, by name; "input.0", "input.1", ... are the elements of one
  // that is a sequence.
  std::map<std::string, std::vector<int64_t>, std::less<>> input_shapes;
  // Inputs that are given as sequences without elements.
  std::set<std::string, std::less<>> empty_sequences;
  // Contents of small inputs that will be given, as bits (ir/value.h). Where the model needs one
  // before it can be built (the shape of a reshape, say), it is built for these contents.
  std::map<std::string, std::vector<int64_t>, std::less<>> input_values;
  int64_t default_max = 1024;
  // Initializers, and outputs of Constant nodes, that become params of their names even where they
  // are small or all elements are equal, so that their contents can be changed. Their values are
  // not known to the import.
  std::set<std::string, std::less<>> weights;
  OnnxTrainingOptions training;
};

// Whether the bytes are an ONNX model, by their beginning.
bool IsOnnxModel(std::string_view bytes);

// The symbol in the module's text for a tensor of this name.
std::string OnnxSymbol(std::string_view name);

// Imports the model in `bytes`, the contents of file `path`. Weights that are too large for the
// module's text stay in the file; their declarations name it. Errors are InvalidArgument with one
// line: a damaged file, unsupported types or operators (the message lists all nodes with such
// operators), shapes that do not fit, or a value that must be known at import but depends on an
// input (the message names the node).
absl::StatusOr<std::unique_ptr<Module>> ImportOnnx(std::string_view bytes, const std::string& path,
                                                   const OnnxImportOptions& options);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_IMPORT_ONNX_H_
