// One operator, imported by its function.
#ifndef TG_FRONTEND_ONNX_OPERATOR_TESTING_H_
#define TG_FRONTEND_ONNX_OPERATOR_TESTING_H_

#include <string_view>
#include <utility>
#include <vector>

#include "frontend/common/graph_builder_testing.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/tensors.h"
#include "gtest/gtest.h"

namespace tg::onnx {

using frontend::Array;
using frontend::At;
using frontend::Count;
using frontend::ForEach;

class OperatorTest : public frontend::GraphBuilderTest {
 protected:
  static Attribute Int(std::string_view name, int64_t i) {
    Attribute a;
    a.name = name;
    a.i = i;
    return a;
  }
  static Attribute Float(std::string_view name, float f) {
    Attribute a;
    a.name = name;
    a.f = f;
    return a;
  }
  static Attribute List(std::string_view name, Ints ints) {
    Attribute a;
    a.name = name;
    a.ints = std::move(ints);
    return a;
  }
  static Attribute Text(std::string_view name, std::string_view s) {
    Attribute a;
    a.name = name;
    a.s = s;
    return a;
  }

  // Its outputs; null inputs are left out.
  std::vector<Value> Import(std::string_view op, int64_t opset, const std::vector<Value>& inputs,
                            std::vector<Attribute> attributes = {}, size_t outputs = 1) {
    Node node;
    node.op = op;
    node.attributes = std::move(attributes);
    node.outputs.assign(outputs, "y");
    std::vector<Tensor> tensors;
    for (const Value v : inputs) {
      tensors.push_back(v ? Tensor{v, TypeFor(v->dtype.scalar()), nullptr} : Tensor{});
    }
    NoGraphs none;
    NodeContext context(*g_, node, opset, tensors, none);
    const Operator* found = FindOperator("", op);
    EXPECT_NE(found, nullptr) << op;
    if (found) found->import(context);
    std::vector<Value> values;
    for (const Tensor& t : context.outputs) values.push_back(t.value);
    return values;
  }

 private:
  struct NoGraphs : SubgraphRunner {
    std::vector<Tensor> Run(const GraphProto&, std::span<const Tensor>) override { return {}; }
  };
};

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_OPERATOR_TESTING_H_
