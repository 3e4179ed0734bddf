#include "frontend/onnx/operators.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/onnx_tensors.h"

namespace tg::onnx {
namespace {

std::string Describe(AttributeType type) {
  constexpr std::string_view kNames[] = {
      "of no type",        "a float",           "an int",           "a string",
      "a tensor",          "a graph",           "a list of floats", "a list of ints",
      "a list of strings", "a list of tensors", "a list of graphs", "a sparse tensor"};
  const auto i = static_cast<size_t>(type);
  return std::string(i < std::size(kNames) ? kNames[i] : "of an unknown type");
}

}  // namespace

Value NodeContext::In(size_t i) {
  if (Has(i) && inputs_[i].value) return inputs_[i].value;
  return Fail(
      absl::StrCat(Has(i) ? "input " : "there is no input ", i, Has(i) ? " is a sequence" : ""));
}

const Tensor& NodeContext::Input(size_t i) const {
  static const Tensor& none = *new Tensor();
  return i < inputs_.size() ? inputs_[i] : none;
}

std::vector<Value> NodeContext::Ins() {
  std::vector<Value> values;
  for (size_t i = 0; i < num_inputs(); ++i) values.push_back(In(i));
  return values;
}

std::optional<Ints> NodeContext::KnownBits(size_t i) {
  const auto known = g.KnownBits(In(i), /*with_inputs=*/true);
  if (!known) Fail(absl::StrCat("input ", i, " must be known before the run"));
  return known;
}
std::optional<Ints> NodeContext::KnownInts(size_t i) {
  const auto known = g.KnownInts(In(i), /*with_inputs=*/true);
  if (!known) Fail(absl::StrCat("input ", i, " must be known before the run"));
  return known;
}
std::optional<int64_t> NodeContext::KnownInt(size_t i) {
  const auto known = KnownInts(i);
  if (!known) return std::nullopt;
  if (known->size() == 1) return (*known)[0];
  Fail(absl::StrCat("input ", i, " must be one number, not ", known->size()));
  return std::nullopt;
}
std::optional<std::vector<Dim>> NodeContext::KnownDims(size_t i) {
  const auto most = [&](std::string_view name) {
    return subgraphs_.GreatestSize(name, std::nullopt);
  };
  bool is_bounded = false;
  for (int k = 0; k < GraphBuilder::kMostMeasured; ++k) {
    is_bounded |= subgraphs_.IsBounded(absl::StrCat(std::string(node.outputs[0]), ".", k));
  }
  const auto known = g.MeasuredDims(In(i), node.outputs[0], most, /*with_inputs=*/!is_bounded);
  if (!known) Fail(absl::StrCat("input ", i, " must be known before the run"));
  return known;
}
std::string NodeContext::AxisName(int64_t axis, size_t i) const {
  const bool has_name = i < node.outputs.size() && !node.outputs[i].empty();
  return absl::StrCat(std::string(node.outputs[has_name ? i : 0]), ".", axis);
}
Dim NodeContext::Measure(Value count, int64_t axis, size_t i, std::optional<int64_t> bound) {
  if (!count) return 1;
  const std::string name = AxisName(axis, i);
  return g.Measure(count, name, 0, subgraphs_.GreatestSize(name, bound));
}
Value NodeContext::TruePlaces(Value mask, int64_t axis, size_t i) {
  if (!mask) return nullptr;
  const std::optional<int64_t> bound = g.Greatest(g.NumElements(g.ShapeOf(mask)));
  return g.TruePlaces(mask, AxisName(axis, i),
                      [&](std::string_view name) { return subgraphs_.GreatestSize(name, bound); });
}
std::optional<std::vector<double>> NodeContext::KnownNumbers(size_t i) {
  const auto known = g.KnownNumbers(In(i), /*with_inputs=*/true);
  if (!known) Fail(absl::StrCat("input ", i, " must be known before the run"));
  return known;
}

const Attribute* NodeContext::Find(std::string_view name, AttributeType type) const {
  const auto found = std::find_if(node.attributes.begin(), node.attributes.end(),
                                  [&](const Attribute& a) { return a.name == name; });
  if (found == node.attributes.end()) return nullptr;
  // The first exporters did not write the type.
  const bool fits = type == AttributeType::kUndefined || found->type == type ||
                    found->type == AttributeType::kUndefined;
  if (fits) return &*found;
  g.Fail(absl::StrCat("attribute '", std::string(name), "' is ", Describe(found->type), ", not ",
                      Describe(type)));
  return nullptr;
}
int64_t NodeContext::Int(std::string_view name, int64_t otherwise) const {
  const Attribute* a = Find(name, AttributeType::kInt);
  return a ? a->i : otherwise;
}
double NodeContext::Float(std::string_view name, double otherwise) const {
  const Attribute* a = Find(name, AttributeType::kFloat);
  return a ? a->f : otherwise;
}
std::string_view NodeContext::String(std::string_view name, std::string_view otherwise) const {
  const Attribute* a = Find(name, AttributeType::kString);
  return a ? a->s : otherwise;
}
std::optional<Ints> NodeContext::List(std::string_view name) const {
  const Attribute* a = Find(name, AttributeType::kInts);
  return a ? std::optional(a->ints) : std::nullopt;
}
std::optional<std::vector<float>> NodeContext::Floats(std::string_view name) const {
  const Attribute* a = Find(name, AttributeType::kFloats);
  return a ? std::optional(a->floats) : std::nullopt;
}
std::optional<Ints> NodeContext::ListOrInput(std::string_view name, size_t i) {
  if (const auto list = List(name)) return list;
  return Has(i) ? KnownInts(i) : std::nullopt;
}

std::vector<Tensor> NodeContext::RunSubgraph(std::string_view attribute,
                                             std::span<const Tensor> inputs) {
  const Attribute* a = Find(attribute, AttributeType::kGraph);
  if (!a || !a->graph) {
    Fail("there is no graph '" + std::string(attribute) + "'");
    return {};
  }
  return subgraphs_.Run(*a->graph, inputs);
}

Tensor NodeContext::Import(const TensorProto& t) {
  absl::StatusOr<Tensor> tensor = subgraphs_.Import(t, node.outputs[0]);
  if (tensor.ok()) return *std::move(tensor);
  Fail(std::string(tensor.status().message()));
  return {};
}

void NodeContext::Return(Value v, size_t i, ElementType type) {
  if (!v || !Wants(i)) return;
  outputs[i] = {v, type == ElementType::kUndefined ? TypeFor(v->dtype.scalar()) : type, nullptr};
}
void NodeContext::Return(const Tensor& t, size_t i) {
  if (Wants(i)) outputs[i] = t;
}

void ImportNode(const Operator& op, NodeContext& c) {
  if (c.node.outputs.empty()) {
    c.Fail("a node without outputs");
    return;
  }
  for (size_t i = 0; i < op.min_inputs; ++i) {
    if (!c.In(i)) return;
  }
  if (op.min_rank > 0) {
    const Value x = c.In(0);
    if (!x) return;
    if (c.g.Rank(x) < op.min_rank) {
      c.Fail(absl::StrCat("input 0 is ", c.g.Describe(x), ", of a rank below ", op.min_rank));
      return;
    }
  }
  op.import(c);
}

std::vector<const Operator*> AllOperators() {
  std::vector<const Operator*> all;
  for (const auto& family : {ElementwiseOperators(),   MovementOperators(),
                             ReduceOperators(),        ContractionOperators(),
                             WindowOperators(),        GatherOperators(),
                             NormalizationOperators(), ResizeOperators(),
                             SamplingOperators(),      RegionOperators(),
                             SignalOperators(),        ConstantOperators(),
                             ControlOperators(),       BranchOperators(),
                             RecurrentOperators(),     QuantizedRecurrentOperators(),
                             AttentionOperators(),     MicrosoftAttentionOperators(),
                             StateSpaceOperators(),    QuantizeOperators(),
                             QLinearOperators(),       LossOperators(),
                             RandomOperators(),        SequenceOperators(),
                             TreeOperators(),          MachineLearningOperators()}) {
    for (const Operator& op : family) all.push_back(&op);
  }
  return all;
}

const Operator* FindOperator(std::string_view domain, std::string_view name) {
  static const auto& table = *[] {
    auto* map = new std::map<std::pair<std::string_view, std::string_view>, const Operator*>();
    for (const Operator* op : AllOperators()) (*map)[{op->domain, op->name}] = op;
    return map;
  }();
  const auto found = table.find({domain, name});
  return found == table.end() ? nullptr : found->second;
}

}  // namespace tg::onnx
