// A module that an ONNX model of one node gives, through the importer.
#ifndef TG_TOOLS_ACCURACY_ONNX_NODE_H_
#define TG_TOOLS_ACCURACY_ONNX_NODE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/module.h"

namespace tg::accuracy {

struct OnnxNode {
  std::string domain, op;
  std::vector<std::pair<std::string, int64_t>> attributes;
  std::vector<std::pair<std::string, std::string>> strings;
  // The names of inputs in the order of the node's; one may occur twice.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs{"r"};
};

struct NodeInput {
  std::string name;
  Scalar type;
  std::vector<int64_t> shape;
  std::vector<int64_t> constant;  // elements (i64) of an input that the model holds
};

// The graph is @main. The opset is the newest one that the importer reads.
absl::StatusOr<std::unique_ptr<Module>> ImportNode(const OnnxNode& node,
                                                   std::span<const NodeInput> inputs);

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_ONNX_NODE_H_
