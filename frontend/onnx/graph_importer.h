// GraphImporter: an ONNX graph, node by node, as nodes of the IR.
#ifndef TG_FRONTEND_ONNX_GRAPH_IMPORTER_H_
#define TG_FRONTEND_ONNX_GRAPH_IMPORTER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/proto.h"

namespace tg::onnx {

class GraphImporter : public SubgraphRunner {
 public:
  // All outlive the importer.
  GraphImporter(const Model& model, std::string_view bytes, std::string file, GraphBuilder& g);

  // Every node that is not read, in this graph and those inside it, in one error.
  absl::Status CheckOperators() const;

  // Replaces what has this name in the innermost scope.
  void Define(std::string_view name, Tensor value) { scopes_.back()[name] = std::move(value); }
  // Null where there is none of this name.
  const Tensor* Find(std::string_view name) const;

  absl::Status RunNodes(const GraphProto& graph);
  std::vector<Tensor> Run(const GraphProto& graph, std::span<const Tensor> inputs) override;
  absl::StatusOr<Tensor> Import(const TensorProto& t, std::string_view name) override;

 private:
  using Scope = std::map<std::string_view, Tensor>;
  using FunctionKey = std::pair<std::string_view, std::string_view>;  // domain, name

  absl::Status RunNode(const Node& node);
  // For an error: the dimensions without a size that the shapes depend on.
  std::string OpenDimensions(std::span<const Tensor> inputs);
  absl::Status CallFunction(const Function& function, const Node& call,
                            std::span<const Tensor> inputs);
  // The results of a node or a call, which no other value of the scope may be named like.
  absl::Status DefineResults(const Node& node, std::span<const Tensor> results);
  absl::Status DefineInitializers(const GraphProto& graph);
  const Function* FindFunction(const Node& node) const;
  int64_t OpsetOf(std::string_view domain) const;
  void ListUnread(std::span<const Node> nodes, std::vector<std::string>& unread) const;

  const Model& model_;
  const std::string_view bytes_;
  const std::string file_;
  GraphBuilder& g_;
  std::vector<Scope> scopes_;
  // A function sees nothing of its caller's scopes: those from here on are its own.
  size_t first_scope_ = 0;
  std::map<FunctionKey, const Function*> functions_;
  std::vector<const std::vector<OpsetId>*> opsets_;  // the innermost last
  std::vector<const Function*> active_;  // calls that are being expanded, the innermost last
  int depth_ = 0;
  int64_t num_nodes_ = 0;  // that were run
  bool has_told_dimensions_ = false;
};

// "Conv 'conv1'": how messages call a node.
std::string NodeName(const Node& node);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_GRAPH_IMPORTER_H_
