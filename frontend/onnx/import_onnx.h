// Reads ONNX models: a trained network becomes a module with one graph, its weights where they are.
#ifndef TG_FRONTEND_ONNX_IMPORT_ONNX_H_
#define TG_FRONTEND_ONNX_IMPORT_ONNX_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/module.h"

namespace tg {

struct OnnxImportOptions {
  // By name of a dimension (dim_param, or "input.axis" for one without a name): its size, which
  // becomes a number, or its greatest size, up to which it is a variable. One that is in neither
  // follows from input_shapes, and is otherwise a variable up to default_max.
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
};

// Whether the bytes are an ONNX model, by their beginning.
bool IsOnnxModel(std::string_view bytes);

// An input of a model as the file declares it.
struct OnnxInput {
  std::string name;
  std::optional<Scalar> type;  // none: a type that the IR lacks
  // Extents; kOpenExtent where the file leaves the size open. None: of unknown
  // rank.
  static constexpr int64_t kOpenExtent = -1;
  std::optional<std::vector<int64_t>> shape;
};

// A model's inputs, those with initializers left out. `sizes` has the sizes of named dimensions.
absl::StatusOr<std::vector<OnnxInput>> OnnxInputs(
    std::string_view bytes, const std::map<std::string, int64_t, std::less<>>& sizes = {});

// What the text calls a tensor of this name.
std::string OnnxSymbol(std::string_view name);

// `path` is where `bytes` are from: weights that are too large for the text are named in it.
// InvalidArgument in one line: a damaged file, a type or operator that is not read (all of them at
// once, by name), shapes that do not fit, with the node. Unimplemented for what must be known
// before a run and is not.
absl::StatusOr<std::unique_ptr<Module>> ImportOnnx(std::string_view bytes, const std::string& path,
                                                   const OnnxImportOptions& options);

}  // namespace tg

#endif  // TG_FRONTEND_ONNX_IMPORT_ONNX_H_
