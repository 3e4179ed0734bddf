#include "tools/train/onnx_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "base/status.h"
#include "frontend/onnx/import_onnx.h"
#include "frontend/onnx/proto.h"

namespace tg::train {
namespace {

struct WeightInputs {
  std::string_view op;
  std::vector<size_t> inputs;
  bool may_be_constants = false;  // one element is then a number of a formula, not a weight
};

bool HasFloats(const onnx::TensorProto& t) {
  return t.type == onnx::ElementType::kFloat || t.type == onnx::ElementType::kFloat16 ||
         t.type == onnx::ElementType::kBfloat16 || t.type == onnx::ElementType::kDouble;
}

struct NamedTensorProto {
  std::string_view name;
  const onnx::TensorProto* tensor;
};

// The initializers. If none has floats, the values of Constant nodes, as converters from Paddle
// write weights; other exporters write numbers of formulas so.
std::vector<NamedTensorProto> TensorsOf(const onnx::GraphProto& graph) {
  std::vector<NamedTensorProto> tensors, constants;
  bool has_floats = false;
  for (const onnx::TensorProto& t : graph.initializers) {
    tensors.push_back({t.name, &t});
    has_floats |= HasFloats(t);
  }
  if (has_floats) return tensors;
  for (const onnx::Node& node : graph.nodes) {
    if (node.op != "Constant" || node.outputs.empty()) continue;
    for (const onnx::Attribute& a : node.attributes) {
      if (a.name == "value" && a.tensor) constants.push_back({node.outputs[0], a.tensor.get()});
    }
  }
  return constants;
}

}  // namespace

absl::StatusOr<std::set<std::string, std::less<>>> OnnxWeights(std::string_view bytes) {
  static const std::vector<WeightInputs> kWeightInputs = {
      {"Conv", {1, 2}},
      {"ConvTranspose", {1, 2}},
      {"Gemm", {0, 1, 2}},
      {"MatMul", {0, 1}},
      {"Einsum", {0, 1}},
      {"BatchNormalization", {1, 2}},
      {"InstanceNormalization", {1, 2}},
      {"LayerNormalization", {1, 2}},
      {"GroupNormalization", {1, 2}},
      {"SkipLayerNormalization", {2, 3, 4}},
      {"Gather", {0}},
      {"PRelu", {1}},
      {"Add", {0, 1}, true},
      {"Sub", {0, 1}, true},
      {"Mul", {0, 1}, true},
      {"Div", {0, 1}, true},
      {"Concat", {0, 1}, true},
      {"Expand", {0}, true},
      {"Transpose", {0}, true},
      {"Identity", {0}, true},
  };
  TG_ASSIGN_OR_RETURN(const onnx::Model model, onnx::ParseModel(bytes));
  std::set<std::string_view> read, read_as_weight, statistics;
  // Exporters share equal tensors, so that an Identity may make statistics of a weight.
  for (auto node = model.graph.nodes.rbegin(); node != model.graph.nodes.rend(); ++node) {
    for (size_t i = 3; node->op == "BatchNormalization" && i < node->inputs.size(); ++i) {
      statistics.insert(node->inputs[i]);
    }
    const bool is_shared = node->op == "Identity" && !node->inputs.empty() &&
                           !node->outputs.empty() && statistics.count(node->outputs[0]);
    if (is_shared) statistics.insert(node->inputs[0]);
  }
  for (const onnx::Node& node : model.graph.nodes) {
    for (const WeightInputs& row : kWeightInputs) {
      if (row.op != node.op) continue;
      for (const size_t i : row.inputs) {
        if (i >= node.inputs.size()) continue;
        read.insert(node.inputs[i]);
        if (!row.may_be_constants) read_as_weight.insert(node.inputs[i]);
      }
    }
  }
  std::set<std::string, std::less<>> weights;
  for (const auto& [name, tensor] : TensorsOf(model.graph)) {
    const onnx::TensorProto& t = *tensor;
    const bool has_several =
        std::any_of(t.dims.begin(), t.dims.end(), [](int64_t d) { return d > 1; });
    const bool is_weight = has_several ? read.count(name) > 0 : read_as_weight.count(name) > 0;
    if (is_weight && HasFloats(t) && !statistics.count(name)) weights.emplace(name);
  }
  return weights;
}

absl::StatusOr<bool> HasOperator(std::string_view bytes, std::string_view op) {
  TG_ASSIGN_OR_RETURN(const onnx::Model model, onnx::ParseModel(bytes));
  return std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(),
                     [&](const onnx::Node& node) { return node.op == op; });
}

absl::StatusOr<OnnxStatistics> StatisticsOf(std::string_view bytes) {
  TG_ASSIGN_OR_RETURN(const onnx::Model model, onnx::ParseModel(bytes));
  std::map<std::string_view, int> num_readers;
  for (const onnx::TensorProto& t : model.graph.initializers) num_readers.emplace(t.name, 0);
  for (const onnx::Node& node : model.graph.nodes) {
    for (const std::string_view name : node.inputs) {
      if (const auto found = num_readers.find(name); found != num_readers.end()) ++found->second;
    }
  }
  OnnxStatistics statistics;
  for (const onnx::Node& node : model.graph.nodes) {
    if (node.op != "BatchNormalization") continue;
    for (size_t i = 3; i < 5; ++i) {
      const auto found =
          i < node.inputs.size() ? num_readers.find(node.inputs[i]) : num_readers.end();
      if (found == num_readers.end()) {
        return InvalidArgument("BatchNormalization ", Quote(node.name),
                               " has statistics that are no initializers");
      }
      if (found->second > 1) {
        return InvalidArgument("the statistics ", Quote(found->first), " of BatchNormalization ",
                               Quote(node.name), " are read by other nodes too; ",
                               "a step that changes them needs a copy for each");
      }
      (i == 3 ? statistics.means : statistics.variances).emplace(found->first);
    }
  }
  if (statistics.means.empty()) return InvalidArgument("the model has no BatchNormalization");
  return statistics;
}

absl::StatusOr<std::string> WithWeights(std::string_view bytes, const Tensors& weights) {
  TG_ASSIGN_OR_RETURN(const onnx::Model model, onnx::ParseModel(bytes));
  std::map<std::string, const onnx::TensorProto*> by_symbol;
  for (const auto& [name, tensor] : TensorsOf(model.graph)) {
    by_symbol.emplace(onnx::OnnxSymbol(name), tensor);
  }
  std::string result(bytes);
  for (const auto& [symbol, tensor] : weights) {
    const auto found = by_symbol.find(symbol);
    if (found == by_symbol.end()) {
      return InvalidArgument("weight ", Quote(symbol), " has no initializer of its name");
    }
    const onnx::TensorProto& t = *found->second;
    const std::string_view data = !t.raw.empty() ? t.raw : t.packed_floats;
    if (t.is_external || data.size() != tensor.data.size()) {
      return InvalidArgument("initializer ", Quote(t.name), " is not packed in the model's file: ",
                             "a .safetensors file can have the weights");
    }
    std::memcpy(result.data() + (data.data() - bytes.data()), tensor.data.data(), data.size());
  }
  return result;
}

}  // namespace tg::train
