#include "frontend/onnx/graph_importer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/onnx_tensors.h"

namespace tg::onnx {
namespace {

// The newest opset of ai.onnx whose operators are read.
constexpr int64_t kNewestOpset = 28;
constexpr int64_t kOldestOpset = 1;
constexpr int kMaxDepth = 64;
constexpr int64_t kMaxNodes = int64_t{1} << 20;

}  // namespace

std::string NodeName(const Node& node) {
  std::string text;
  if (!node.domain.empty()) absl::StrAppend(&text, std::string(node.domain), ".");
  absl::StrAppend(&text, std::string(node.op));
  // Exporters often leave the name out: then its first output tells it.
  const std::string_view name =
      !node.name.empty() || node.outputs.empty() ? node.name : node.outputs[0];
  if (!name.empty()) absl::StrAppend(&text, " '", std::string(name), "'");
  return text;
}

GraphImporter::GraphImporter(const Model& model, std::string_view bytes, std::string file,
                             GraphBuilder& g)
    : model_(model), bytes_(bytes), file_(std::move(file)), g_(g), scopes_(1) {
  for (const Function& f : model.functions) functions_[{f.domain, f.name}] = &f;
  opsets_.push_back(&model.opsets);
}

const Tensor* GraphImporter::Find(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > first_scope_;) {
    const auto found = scopes_[i].find(name);
    if (found != scopes_[i].end()) return &found->second;
  }
  return nullptr;
}

const Function* GraphImporter::FindFunction(const Node& node) const {
  const auto found = functions_.find({node.domain, node.op});
  return found == functions_.end() ? nullptr : found->second;
}

int64_t GraphImporter::OpsetOf(std::string_view domain) const {
  for (const OpsetId& id : *opsets_.back()) {
    if (id.domain == domain) return id.version;
  }
  return domain.empty() ? kOldestOpset : 1;
}

void GraphImporter::ListUnread(std::span<const Node> nodes,
                               std::vector<std::string>& unread) const {
  for (const Node& node : nodes) {
    if (!FindFunction(node) && !FindOperator(node.domain, node.op))
      unread.push_back(NodeName(node));
    for (const Attribute& a : node.attributes) {
      if (a.graph) ListUnread(a.graph->nodes, unread);
    }
  }
}

absl::Status GraphImporter::CheckOperators() const {
  for (const OpsetId& id : model_.opsets) {
    if (id.domain.empty() && (id.version < kOldestOpset || id.version > kNewestOpset)) {
      return absl::InvalidArgumentError(absl::StrCat("opset ", id.version, " is not read (",
                                                     kOldestOpset, " to ", kNewestOpset, " are)"));
    }
  }
  std::vector<std::string> unread;
  ListUnread(model_.graph.nodes, unread);
  for (const Function& f : model_.functions) ListUnread(f.nodes, unread);
  if (unread.empty()) return absl::OkStatus();
  std::string text =
      unread.size() == 1 ? "an operator that is not read: " : "operators that are not read: ";
  for (size_t i = 0; i < unread.size(); ++i) absl::StrAppend(&text, i ? ", " : "", unread[i]);
  return absl::InvalidArgumentError(text);
}

absl::Status GraphImporter::DefineInitializers(const GraphProto& graph) {
  for (const TensorProto& t : graph.initializers) {
    const absl::StatusOr<Tensor> tensor =
        ImportTensor(g_, t, bytes_, file_, {}, weights_ != nullptr && weights_->count(t.name) > 0);
    if (!tensor.ok()) return tensor.status();
    Define(t.name, *tensor);
  }
  if (!graph.sparse_initializers.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor '", std::string(graph.sparse_initializers[0].values.name),
                     "': sparse tensors are not read"));
  }
  return absl::OkStatus();
}

void GraphImporter::CountReaders(std::span<const Node> nodes,
                                 std::map<std::string_view, int>& counts) {
  num_nodes_ += static_cast<int64_t>(nodes.size());
  for (const Node& node : nodes) {
    for (const std::string_view name : node.inputs) ++counts[name];
    for (const Attribute& a : node.attributes) {
      if (!a.graph) continue;
      CountReaders(a.graph->nodes, counts);
      for (const ValueInfo& output : a.graph->outputs) ++counts[output.name];
    }
  }
}

bool GraphImporter::HasOneReader(std::string_view name) {
  if (readers_.empty() || !scopes_.back().count(name)) return false;
  Readers& readers = readers_.back();
  if (readers.counts.empty()) {
    CountReaders(readers.nodes, readers.counts);
    for (const std::string_view output : readers.outputs) ++readers.counts[output];
  }
  return readers.counts[name] == 1;
}

std::optional<int64_t> GraphImporter::GivenBound(std::string_view name) const {
  if (max_sizes_ == nullptr || max_sizes_->empty()) return std::nullopt;
  const std::string symbol = frontend::SymbolFrom(name);
  for (const auto& [given, max] : *max_sizes_) {
    if (frontend::SymbolFrom(given) == symbol) return max;
  }
  return std::nullopt;
}

int64_t GraphImporter::GreatestSize(std::string_view name, std::optional<int64_t> bound) {
  data_sizes_.emplace(name);
  const std::optional<int64_t> given = GivenBound(name);
  if (!given) return bound.value_or(default_size_);
  return bound ? std::min(*bound, *given) : *given;
}

absl::Status GraphImporter::RunNodes(const GraphProto& graph) {
  if (++depth_ > kMaxDepth) return absl::InvalidArgumentError("graphs nested too deeply");
  if (absl::Status s = DefineInitializers(graph); !s.ok()) return s;
  Readers& readers = readers_.emplace_back();
  readers.nodes = graph.nodes;
  for (const ValueInfo& output : graph.outputs) readers.outputs.push_back(output.name);
  for (const Node& node : graph.nodes) {
    if (absl::Status s = RunNode(node); !s.ok()) return s;
  }
  readers_.pop_back();
  --depth_;
  return absl::OkStatus();
}

absl::Status GraphImporter::RunNode(const Node& node) {
  if (++num_nodes_ > kMaxNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("more than ", kMaxNodes, " nodes, with loops and functions expanded"));
  }
  std::vector<Tensor> inputs;
  for (const std::string_view name : node.inputs) {
    const Tensor* found = name.empty() ? nullptr : Find(name);
    if (!found && !name.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(NodeName(node), ": there is no value '", std::string(name),
                       "' before it (nodes must follow their inputs)"));
    }
    inputs.push_back(found ? *found : Tensor());
  }
  if (const Function* function = FindFunction(node)) return CallFunction(*function, node, inputs);
  const Operator* op = FindOperator(node.domain, node.op);
  const int64_t opset = OpsetOf(node.domain);
  if (opset < op->since) {
    return absl::InvalidArgumentError(absl::StrCat(NodeName(node), ": its meaning in opset ", opset,
                                                   " is not read (from ", op->since, " on it is)"));
  }
  NodeContext context(g_, node, opset, inputs, *this);
  const uint32_t first = g_.ir().context().num_nodes();
  ImportNode(*op, context);
  if (g_.ok()) {
    g_.SetOrigin(first, NodeName(node));
    return DefineResults(node, context.outputs);
  }
  std::string text = NodeName(node) + ": " + g_.error();
  g_.ClearError();
  // An error in a nested graph has already named the dimensions.
  if (!has_told_dimensions_) {
    const std::string dimensions = OpenDimensions(inputs);
    has_told_dimensions_ = !dimensions.empty();
    text += dimensions;
  }
  return absl::InvalidArgumentError(text);
}

std::string GraphImporter::OpenDimensions(std::span<const Tensor> inputs) {
  std::set<std::string> names;
  for (const Tensor& t : inputs) {
    if (t.value) names.merge(g_.VariablesOf(t.value));
  }
  std::string text;
  for (const std::string& name : names) {
    const auto known = dimension_names_.find(name);
    absl::StrAppend(&text, text.empty() ? " (its inputs have open dimensions: " : ", ",
                    known == dimension_names_.end() ? name : known->second);
  }
  return text.empty() ? text : text + "; --var gives one its size, --max its greatest)";
}

absl::Status GraphImporter::DefineResults(const Node& node, std::span<const Tensor> results) {
  for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i) {
    const std::string_view name = node.outputs[i];
    if (name.empty()) continue;
    if (!scopes_.back().emplace(name, results[i]).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(NodeName(node), ": there is a value '", std::string(name), "' already"));
    }
    if (results[i].value) g_.SetName(results[i].value, name);
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> GraphImporter::Import(const TensorProto& t, std::string_view name) {
  return ImportTensor(g_, t, bytes_, file_, name, weights_ != nullptr && weights_->count(name) > 0);
}

std::vector<Tensor> GraphImporter::Run(const GraphProto& graph, std::span<const Tensor> inputs) {
  ++num_nodes_;  // a graph without nodes takes time, too
  if (inputs.size() > graph.inputs.size()) {
    g_.Fail("a graph of fewer inputs than it is given");
    return {};
  }
  scopes_.emplace_back();
  for (size_t i = 0; i < inputs.size(); ++i) Define(graph.inputs[i].name, inputs[i]);
  std::vector<Tensor> results;
  const absl::Status status = RunNodes(graph);
  if (!status.ok()) g_.Fail(std::string(status.message()));
  for (const ValueInfo& output : graph.outputs) {
    const Tensor* found = status.ok() ? Find(output.name) : nullptr;
    if (!found && status.ok()) g_.Fail("there is no result '" + std::string(output.name) + "'");
    results.push_back(found ? *found : Tensor());
  }
  scopes_.pop_back();
  return g_.ok() ? results : std::vector<Tensor>();
}

namespace {

// A function's node with the call's attributes in the places that refer to them.
void BindAttributes(Node& node, const Function& function, const Node& call) {
  if (!node.has_references) return;
  std::vector<Attribute> bound;
  for (Attribute& a : node.attributes) {
    if (a.graph) {
      auto graph = std::make_shared<GraphProto>(*a.graph);
      for (Node& inner : graph->nodes) BindAttributes(inner, function, call);
      a.graph = std::move(graph);
    }
    if (a.ref.empty()) {
      bound.push_back(a);
      continue;
    }
    const Attribute* given = nullptr;
    for (const Attribute& b : function.defaults) {
      if (b.name == a.ref) given = &b;
    }
    for (const Attribute& b : call.attributes) {
      if (b.name == a.ref) given = &b;
    }
    if (!given) continue;  // an optional one that nobody gives
    bound.push_back(*given);
    bound.back().name = a.name;
  }
  node.attributes = std::move(bound);
}

}  // namespace

absl::Status GraphImporter::CallFunction(const Function& function, const Node& call,
                                         std::span<const Tensor> inputs) {
  if (std::find(active_.begin(), active_.end(), &function) != active_.end()) {
    return absl::InvalidArgumentError(NodeName(call) + ": a function that calls itself");
  }
  if (++depth_ > kMaxDepth) return absl::InvalidArgumentError("functions nested too deeply");
  active_.push_back(&function);
  const size_t outer = first_scope_;
  first_scope_ = scopes_.size();
  scopes_.emplace_back();
  opsets_.push_back(function.opsets.empty() ? opsets_.back() : &function.opsets);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    Define(function.inputs[i], i < inputs.size() ? inputs[i] : Tensor());
  }
  readers_.push_back({function.nodes, function.outputs, {}});
  absl::Status status;
  for (const Node& node : function.nodes) {
    if (node.has_references) {
      Node bound = node;
      BindAttributes(bound, function, call);
      status = RunNode(bound);
    } else {
      status = RunNode(node);
    }
    if (!status.ok()) {
      status = absl::InvalidArgumentError(
          absl::StrCat("in ", NodeName(call), ": ", std::string(status.message())));
      break;
    }
  }
  std::vector<Tensor> results;
  for (const std::string_view name : function.outputs) {
    const Tensor* found = Find(name);
    results.push_back(found ? *found : Tensor());
  }
  opsets_.pop_back();
  readers_.pop_back();
  scopes_.pop_back();
  active_.pop_back();
  first_scope_ = outer;
  --depth_;
  return status.ok() ? DefineResults(call, results) : status;
}

}  // namespace tg::onnx
