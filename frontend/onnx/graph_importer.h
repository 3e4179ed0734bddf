// GraphImporter: translates an ONNX graph to nodes of the IR, node by node.
#ifndef TG_FRONTEND_ONNX_GRAPH_IMPORTER_H_
#define TG_FRONTEND_ONNX_GRAPH_IMPORTER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
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

  // Initializers that become params (OnnxImportOptions::weights); the set outlives the importer.
  void SetWeights(const std::set<std::string, std::less<>>* weights) { weights_ = weights; }

  // It outlives the importer.
  void SetTraining(TrainingImport* training) { training_ = training; }

  // InvalidArgument, listing all nodes of this graph and of nested graphs whose operators are not
  // supported.
  absl::Status CheckOperators() const;

  // Gives the name to a value in the innermost scope, replacing an earlier one.
  void Define(std::string_view name, Tensor value) { scopes_.back()[name] = std::move(value); }
  // Null where there is none of this name.
  const Tensor* Find(std::string_view name) const;

  // Records the model's name of the dimension that became this variable, for messages.
  void NameDimension(std::string_view variable, std::string_view name) {
    dimension_names_[std::string(variable)] = name;
  }

  absl::Status RunNodes(const GraphProto& graph);
  std::vector<Tensor> Run(const GraphProto& graph, std::span<const Tensor> inputs) override;
  absl::StatusOr<Tensor> Import(const TensorProto& t, std::string_view name) override;
  bool HasOneReader(std::string_view name) override;
  int64_t GreatestSize(std::string_view name, std::optional<int64_t> bound) override;
  bool IsBounded(std::string_view name) override { return GivenBound(name).has_value(); }
  bool PrefersContents() override { return prefers_contents_; }
  TrainingImport* Training() override { return training_; }

  // What bounds sizes that depend on data: --max, and where neither that nor the graph does, a
  // size.
  void SetSizes(const std::map<std::string, int64_t, std::less<>>& max, int64_t otherwise,
                bool prefers_contents) {
    max_sizes_ = &max;
    default_size_ = otherwise;
    prefers_contents_ = prefers_contents;
  }
  // The names of those sizes.
  const std::set<std::string>& data_sizes() const { return data_sizes_; }

 private:
  using Scope = std::map<std::string_view, Tensor>;
  using FunctionKey = std::pair<std::string_view, std::string_view>;  // domain, name
  // How often the values of a graph or function are read in it and in nested graphs.
  struct Readers {
    std::span<const Node> nodes;
    std::vector<std::string_view> outputs;
    std::map<std::string_view, int> counts;  // empty until they are needed
  };

  absl::Status RunNode(const Node& node);
  // Adds what these nodes, and those of their nested graphs, read. Each counts as a node that is
  // run, so that loops cannot make this take long.
  void CountReaders(std::span<const Node> nodes, std::map<std::string_view, int>& counts);
  std::optional<int64_t> GivenBound(std::string_view name) const;
  // The end of an error message: the open dimensions that the inputs depend on; empty if none.
  std::string OpenDimensions(std::span<const Tensor> inputs);
  absl::Status CallFunction(const Function& function, const Node& call,
                            std::span<const Tensor> inputs);
  // Defines the results of a node or call. An error if the scope has a value of that name.
  absl::Status DefineResults(const Node& node, std::span<const Tensor> results);
  absl::Status DefineInitializers(const GraphProto& graph);
  const Function* FindFunction(const Node& node) const;
  int64_t OpsetOf(std::string_view domain) const;
  void ListUnread(std::span<const Node> nodes, std::vector<std::string>& unread) const;

  const Model& model_;
  const std::set<std::string, std::less<>>* weights_ = nullptr;
  TrainingImport* training_ = nullptr;
  const std::string_view bytes_;
  const std::string file_;
  GraphBuilder& g_;
  std::vector<Scope> scopes_;
  std::vector<Readers> readers_;  // of the graphs and functions that are being run
  // A function sees nothing of its caller's scopes: those from here on are its own.
  size_t first_scope_ = 0;
  std::map<FunctionKey, const Function*> functions_;
  std::vector<const std::vector<OpsetId>*> opsets_;  // the innermost last
  std::vector<const Function*> active_;  // calls that are being expanded, the innermost last
  int depth_ = 0;
  int64_t num_nodes_ = 0;                               // that were run
  std::map<std::string, std::string> dimension_names_;  // by variable
  bool has_told_dimensions_ = false;
  const std::map<std::string, int64_t, std::less<>>* max_sizes_ = nullptr;
  int64_t default_size_ = 0;
  bool prefers_contents_ = false;
  std::set<std::string> data_sizes_;
};

// "Conv 'conv1'": how messages call a node.
std::string NodeName(const Node& node);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_GRAPH_IMPORTER_H_
