// For tests of operators: imports one node and interprets the result.
#ifndef TG_FRONTEND_ONNX_TESTING_RUN_NODE_H_
#define TG_FRONTEND_ONNX_TESTING_RUN_NODE_H_

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/common/graph_builder_testing.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/operators.h"
#include "gtest/gtest.h"
#include "ir/walk.h"

namespace tg::onnx {

using frontend::Array;
using frontend::Count;
using frontend::ForEach;
using Numbers = std::vector<double>;

// An attribute of this name; the value's type decides which.
inline Attribute Attr(std::string_view name, std::integral auto v) {
  Attribute a;
  a.name = name;
  a.i = static_cast<int64_t>(v);
  return a;
}
inline Attribute Attr(std::string_view name, std::floating_point auto v) {
  Attribute a;
  a.name = name;
  a.f = static_cast<float>(v);
  return a;
}
inline Attribute Attr(std::string_view name, const char* v) {
  Attribute a;
  a.name = name;
  a.s = v;
  return a;
}
inline Attribute Attr(std::string_view name, std::string_view v) {
  Attribute a;
  a.name = name;
  a.s = v;
  return a;
}
inline Attribute Attr(std::string_view name, Ints v) {
  Attribute a;
  a.name = name;
  a.ints = std::move(v);
  return a;
}
inline Attribute Attr(std::string_view name, std::vector<float> v) {
  Attribute a;
  a.name = name;
  a.floats = std::move(v);
  return a;
}
inline Attribute Attr(std::string_view name, std::vector<std::string_view> v) {
  Attribute a;
  a.name = name;
  a.strings = std::move(v);
  return a;
}

// A module to which each call adds a node. After a call, error_ is the reason why the node was
// refused, or empty. The results of a refused node are null.
class OperatorTest : public frontend::GraphBuilderTest, public SubgraphRunner {
 protected:
  static Array Integers(Ints shape, std::vector<double> data) {
    return {std::move(shape), std::move(data), Scalar::kI32};
  }

  // A constant of a type of ONNX.
  Tensor Make(ElementType type, const Ints& shape, std::vector<double> numbers) {
    return {Known({shape, std::move(numbers)}, *ScalarFor(type)), type, nullptr};
  }

  // Adds an attribute to the next node that is built.
  template <typename T>
  void Set(std::string_view name, T v) {
    attributes_.push_back(Attr(name, std::move(v)));
  }

  std::vector<Tensor> Build(std::string_view op, int64_t opset, const std::vector<Tensor>& inputs,
                            size_t num_outputs = 1, std::string_view domain = "") {
    Node node;
    node.op = op;
    node.domain = domain;
    node.outputs.assign(num_outputs, "y");
    node.attributes = std::exchange(attributes_, {});
    const Operator* found = FindOperator(domain, op);
    EXPECT_NE(found, nullptr) << op;
    std::vector<Tensor> none(num_outputs);
    if (!found) return none;
    NodeContext context(*g_, node, opset, inputs, *this);
    ImportNode(*found, context);
    error_ = g_->error();
    g_->ClearError();
    return error_.empty() ? context.outputs : none;
  }

  // Imports a node on these values; null means an input that is left out.
  std::vector<Value> Import(std::string_view op, int64_t opset, const std::vector<Value>& inputs,
                            std::vector<Attribute> attributes = {}, size_t num_outputs = 1,
                            std::string_view domain = "") {
    for (Attribute& a : attributes) attributes_.push_back(std::move(a));
    std::vector<Tensor> tensors;
    for (const Value v : inputs) {
      tensors.push_back(v ? Tensor{v, TypeFor(v->dtype.scalar()), nullptr} : Tensor{});
    }
    std::vector<Value> values;
    for (const Tensor& t : Build(op, opset, tensors, num_outputs, domain)) {
      values.push_back(t.value);
    }
    return values;
  }

  // Imports a node whose inputs are given in a run, and interprets it. Returns an empty list if the
  // node is refused. An input that is nullopt is left out; a scalar becomes a constant.
  std::vector<Array> RunNode(std::string_view domain, std::string_view op,
                             const std::vector<std::optional<Array>>& inputs,
                             std::vector<Attribute> attributes, size_t num_outputs,
                             int64_t opset = 24) {
    std::vector<Value> values;
    for (const std::optional<Array>& input : inputs) {
      values.push_back(!input                 ? nullptr
                       : input->shape.empty() ? Known(*input, input->type)
                                              : Input(*input));
    }
    values = Import(op, opset, values, std::move(attributes), num_outputs, domain);
    return error_.empty() ? Evaluate(values) : std::vector<Array>();
  }

  // The interpreted elements of a result; none if the node was refused.
  Numbers Elements(const Tensor& t) { return t.value ? Evaluate(t.value).data : Numbers(); }
  std::string Shape(const Tensor& t) { return frontend::ShapeText(g_->ShapeOf(t.value)); }

  // The number of nodes of this op in the graph that was interpreted last.
  size_t CountNodes(Op op) const {
    size_t n = 0;
    for (const UOp* u : PostOrder(graph_.body.root)) n += u->op == op;
    return n;
  }

  std::vector<Tensor> Run(const GraphProto&, std::span<const Tensor>) override { return {}; }
  absl::StatusOr<Tensor> Import(const TensorProto& t, std::string_view name) override {
    return ImportTensor(*g_, t, {}, {}, name);
  }

  std::string error_;
  std::vector<Attribute> attributes_;  // of the next node
};

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_TESTING_RUN_NODE_H_
