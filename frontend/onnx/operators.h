// The table of supported ONNX operators, and NodeContext, through which an operator's import
// function accesses its node.
#ifndef TG_FRONTEND_ONNX_OPERATORS_H_
#define TG_FRONTEND_ONNX_OPERATORS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/common/graph_builder.h"
#include "frontend/onnx/proto.h"
#include "frontend/onnx/training.h"

namespace tg::onnx {

using frontend::GraphBuilder;
using frontend::Ints;
using frontend::Value;

// A value of the graph: a tensor, or a sequence of tensors that is resolved at import.
struct Tensor {
  Value value = nullptr;
  // The type in the model. Types of fewer than eight bits and the float8 types that the IR lacks
  // are held in a wider scalar that represents all of their values (ScalarFor in onnx_tensors.h).
  ElementType type = ElementType::kUndefined;
  std::shared_ptr<std::vector<Tensor>> sequence;

  bool exists() const { return value || sequence; }
};

// Runs graphs that are attributes of a node.
class SubgraphRunner {
 public:
  virtual ~SubgraphRunner() = default;
  // The results of a graph on these inputs, in the scope of the node. Empty after an error.
  virtual std::vector<Tensor> Run(const GraphProto& graph, std::span<const Tensor> inputs) = 0;
  // The tensor of an attribute; `name` is for one without a name.
  virtual absl::StatusOr<Tensor> Import(const TensorProto& t, std::string_view name) = 0;
  // The greatest value of a size that depends on data, by its name; `bound`: what follows from the
  // graph, if anything does.
  virtual int64_t GreatestSize(std::string_view, std::optional<int64_t> bound) {
    return bound.value_or(1024);
  }
  // Whether a bound of the size is given.
  virtual bool IsBounded(std::string_view) { return false; }
  // Whether a size that depends on the contents of an input shall be valid for these alone, if they
  // are given.
  virtual bool PrefersContents() { return false; }
  // Whether a value of the innermost graph is read in one place. False where that is not known.
  virtual bool HasOneReader(std::string_view) { return false; }
  // Null: nodes mean what they say.
  virtual TrainingImport* Training() { return nullptr; }
};

class NodeContext {
 public:
  NodeContext(GraphBuilder& builder, const Node& node, int64_t opset,
              std::span<const Tensor> inputs, SubgraphRunner& subgraphs)
      : g(builder),
        node(node),
        opset(opset),
        outputs(node.outputs.size()),
        inputs_(inputs),
        subgraphs_(subgraphs) {}

  GraphBuilder& g;
  const Node& node;
  const int64_t opset;  // of the node's domain
  std::vector<Tensor> outputs;

  // Inputs. For an input that the node leaves out, In records an error and Optional returns null.
  size_t num_inputs() const { return inputs_.size(); }
  bool Has(size_t i) const { return i < inputs_.size() && inputs_[i].exists(); }
  Value In(size_t i);
  Value Optional(size_t i) const { return i < inputs_.size() ? inputs_[i].value : nullptr; }
  const Tensor& Input(size_t i) const;
  ElementType TypeOf(size_t i) const { return Has(i) ? inputs_[i].type : ElementType::kUndefined; }
  std::vector<Value> Ins();
  TrainingImport* Training() const { return subgraphs_.Training(); }
  // Whether only this node reads input `i`, which its own graph computes.
  bool IsOnlyReader(size_t i) const {
    return Has(i) && i < node.inputs.size() && subgraphs_.HasOneReader(node.inputs[i]);
  }
  // The elements of an input that must be known at import. If they are not, returns nullopt and
  // records an error that names the input.
  std::optional<Ints> KnownBits(size_t i);
  std::optional<Ints> KnownInts(size_t i);
  std::optional<int64_t> KnownInt(size_t i);  // of an input with one element
  // Elements that depend on data other than given contents, or for whose size a bound is given, are
  // measured (GraphBuilder::MeasuredDims).
  std::optional<std::vector<Dim>> KnownDims(size_t i);
  std::optional<std::vector<double>> KnownNumbers(size_t i);

  // Attributes. Records an error if the attribute has another type than `type`; kUndefined accepts
  // any type.
  const Attribute* Find(std::string_view name,
                        AttributeType type = AttributeType::kUndefined) const;
  int64_t Int(std::string_view name, int64_t otherwise) const;
  double Float(std::string_view name, double otherwise) const;
  std::string_view String(std::string_view name, std::string_view otherwise) const;
  std::optional<Ints> List(std::string_view name) const;
  std::optional<std::vector<float>> Floats(std::string_view name) const;
  // The list in attribute `name` (older opsets) or in input `i` (newer ones); none if neither
  // exists.
  std::optional<Ints> ListOrInput(std::string_view name, size_t i);
  // Axis `axis` of output `i` has as many elements as `count` says in each run. `bound`: how many
  // it can have, if that is known.
  Dim Measure(Value count, int64_t axis, size_t i = 0, std::optional<int64_t> bound = std::nullopt);
  // The elements of an input on which the number of results depends; none: it is measured.
  std::optional<Ints> CountedBits(size_t i) {
    return g.KnownBits(In(i), subgraphs_.PrefersContents());
  }
  // The places of the true elements of `mask`, bool[n]. Their number is the extent of axis `axis`
  // of output `i`.
  Value TruePlaces(Value mask, int64_t axis, size_t i = 0);
  std::vector<Tensor> RunSubgraph(std::string_view attribute, std::span<const Tensor> inputs);
  // The tensor of an attribute; an empty one after an error.
  Tensor Import(const TensorProto& t);

  // Sets output `i`. Without `type`, it has the type of the value. Outputs that the node does not
  // name are dropped.
  void Return(Value v, size_t i = 0, ElementType type = ElementType::kUndefined);
  void Return(const Tensor& t, size_t i);
  bool Wants(size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }

  Value Fail(std::string why) { return g.Fail(std::move(why)); }

 private:
  // What options call the size of an axis of output `i`.
  std::string AxisName(int64_t axis, size_t i) const;

  std::span<const Tensor> inputs_;
  SubgraphRunner& subgraphs_;
};

// A loop or recurrence of more iterations is a loop of the IR, whose iterations share kernels.
// Those of a shorter one are fused with what is around them.
inline constexpr int64_t kMaxUnrolledSteps = 8;
// Other loops, whose iterations differ in shapes, are unrolled up to this many iterations.
inline constexpr int64_t kMaxUnrolledIterations = 4096;
// Tables that an operator computes at import have up to this many elements.
inline constexpr int64_t kMaxTableElements = int64_t{1} << 22;

struct Operator {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  int64_t since;  // the oldest opset whose definition of the operator is supported
  void (*import)(NodeContext&);
  // The number of leading inputs that must be present, and the least rank of input 0. ImportNode
  // refuses other nodes, so `import` need not check.
  size_t min_inputs = 0;
  size_t min_rank = 0;
};

// Imports the node: sets the outputs of `c`, or records an error in its builder.
void ImportNode(const Operator& op, NodeContext& c);

// The operators of each file *_ops.cc of this folder.
std::span<const Operator> ElementwiseOperators();
std::span<const Operator> MovementOperators();
std::span<const Operator> ReduceOperators();
std::span<const Operator> ContractionOperators();
std::span<const Operator> WindowOperators();
std::span<const Operator> GatherOperators();
std::span<const Operator> NormalizationOperators();
std::span<const Operator> ResizeOperators();
std::span<const Operator> SamplingOperators();
std::span<const Operator> RegionOperators();
std::span<const Operator> SignalOperators();
std::span<const Operator> ConstantOperators();
std::span<const Operator> ControlOperators();
std::span<const Operator> BranchOperators();
std::span<const Operator> RecurrentOperators();
std::span<const Operator> QuantizedRecurrentOperators();
std::span<const Operator> AttentionOperators();
std::span<const Operator> MicrosoftAttentionOperators();
std::span<const Operator> StateSpaceOperators();
std::span<const Operator> QuantizeOperators();
std::span<const Operator> QLinearOperators();
std::span<const Operator> LossOperators();
std::span<const Operator> RandomOperators();
std::span<const Operator> SequenceOperators();
std::span<const Operator> TreeOperators();
std::span<const Operator> MachineLearningOperators();

// All operators, and the operator of this name; null if there is none.
std::vector<const Operator*> AllOperators();
const Operator* FindOperator(std::string_view domain, std::string_view name);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_OPERATORS_H_
