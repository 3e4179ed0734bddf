// Tests of operators: one node on inputs that are known, and the elements of its results.
#ifndef TG_FRONTEND_ONNX_TESTING_RUN_NODE_H_
#define TG_FRONTEND_ONNX_TESTING_RUN_NODE_H_

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontend/onnx/operators.h"
#include "frontend/onnx/tensors.h"
#include "ir/value.h"

namespace tg::onnx {

class NodeRunner : public SubgraphRunner {
 public:
  NodeRunner() : graph_(*module_.graphs.emplace_back(std::make_unique<Graph>())) {
    g_ = std::make_unique<GraphBuilder>(module_, graph_.body);
  }

  GraphBuilder& g() { return *g_; }

  Tensor Make(ElementType type, const Ints& shape, std::span<const double> numbers) {
    const Scalar scalar = *ScalarFor(type);
    Ints bits;
    for (const double v : numbers) {
      bits.push_back(IsFloat(scalar) ? BitsFromDouble(scalar, v)
                                     : BitsFromInt(scalar, static_cast<int64_t>(v)));
    }
    return {g_->Constant(scalar, shape, std::move(bits)), type, nullptr};
  }
  Tensor Make(ElementType type, const Ints& shape, std::initializer_list<double> numbers) {
    return Make(type, shape, std::span(numbers.begin(), numbers.size()));
  }

  // Attributes of the next node.
  void Set(std::string_view name, int64_t v) { Add(name).i = v; }
  void Set(std::string_view name, double v) { Add(name).f = static_cast<float>(v); }
  void Set(std::string_view name, const char* v) { Add(name).s = v; }
  void Set(std::string_view name, Ints v) { Add(name).ints = std::move(v); }
  void Set(std::string_view name, std::vector<float> v) { Add(name).floats = std::move(v); }

  // The results of the node; without values after an error, which Error() tells.
  std::vector<Tensor> Run(std::string_view op, int64_t opset, std::vector<Tensor> inputs,
                          size_t num_outputs = 1, std::string_view domain = "") {
    Node& node = nodes_.emplace_back();
    node.op = op;
    node.domain = domain;
    static constexpr std::string_view kNames[] = {"a", "b", "c", "d"};
    node.outputs.assign(kNames, kNames + num_outputs);
    node.attributes = std::move(attributes_);
    attributes_.clear();
    NodeContext context(*g_, node, opset, inputs, *this);
    error_.clear();
    const Operator* found = FindOperator(domain, op);
    if (!found) {
      error_ = "no such operator";
      return std::vector<Tensor>(num_outputs);
    }
    found->import(context);
    error_ = g_->error();
    g_->ClearError();
    return context.outputs;
  }
  const std::string& Error() const { return error_; }

  // The elements; none where they do not follow from the inputs.
  std::vector<double> Numbers(const Tensor& t) {
    return t.value ? g_->KnownNumbers(t.value).value_or(std::vector<double>())
                   : std::vector<double>();
  }
  std::string Shape(const Tensor& t) { return frontend::ShapeText(g_->ShapeOf(t.value)); }

  std::vector<Tensor> Run(const GraphProto&, std::span<const Tensor>) override { return {}; }

 private:
  Attribute& Add(std::string_view name) {
    Attribute& a = attributes_.emplace_back();
    a.name = name;
    return a;
  }

  Module module_;
  Graph& graph_;
  std::unique_ptr<GraphBuilder> g_;
  std::deque<Node> nodes_;
  std::vector<Attribute> attributes_;
  std::string error_;
};

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_TESTING_RUN_NODE_H_
