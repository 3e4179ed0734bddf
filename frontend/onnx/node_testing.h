// Builds one node, interprets it and gives its results: for tests of operators.
#ifndef TG_FRONTEND_ONNX_NODE_TESTING_H_
#define TG_FRONTEND_ONNX_NODE_TESTING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frontend/onnx/operators.h"
#include "frontend/onnx/tensors.h"
#include "gtest/gtest.h"
#include "ir/interpret/graph.h"
#include "ir/interpret/host_buffer.h"
#include "ir/value.h"
#include "ir/verify/verifier.h"

namespace tg::onnx {

struct Array {
  Ints shape;
  std::vector<double> data;
  Scalar type = Scalar::kF64;

  double operator()(const Ints& at) const {
    int64_t flat = 0;
    for (size_t k = 0; k < at.size(); ++k) flat = flat * shape[k] + at[k];
    return data[static_cast<size_t>(flat)];
  }
};

inline Attribute IntAttribute(std::string_view name, int64_t i) {
  Attribute a;
  a.name = name;
  a.i = i;
  return a;
}
inline Attribute FloatAttribute(std::string_view name, float f) {
  Attribute a;
  a.name = name;
  a.f = f;
  return a;
}
inline Attribute StringAttribute(std::string_view name, std::string_view s) {
  Attribute a;
  a.name = name;
  a.s = s;
  return a;
}
inline Attribute StringsAttribute(std::string_view name, std::vector<std::string_view> strings) {
  Attribute a;
  a.name = name;
  a.strings = std::move(strings);
  return a;
}
inline Attribute FloatsAttribute(std::string_view name, std::vector<float> floats) {
  Attribute a;
  a.name = name;
  a.floats = std::move(floats);
  return a;
}

class NodeTest : public testing::Test, public SubgraphRunner {
 protected:
  std::vector<Tensor> Run(const GraphProto&, std::span<const Tensor>) override { return {}; }

  Array Random(Ints shape, double low = -1, double high = 1) {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    std::uniform_real_distribution<double> d(low, high);
    Array a{std::move(shape), {}};
    for (int64_t i = 0; i < n; ++i) a.data.push_back(d(rng_));
    return a;
  }
  static Array Integers(Ints shape, std::vector<double> data) {
    return {std::move(shape), std::move(data), Scalar::kI32};
  }

  // The results of a node; empty, with `error_`, where it is refused. Inputs that are none are left
  // out; scalars are constants.
  std::vector<Array> RunNode(std::string_view domain, std::string_view op,
                             std::vector<std::optional<Array>> inputs,
                             std::vector<Attribute> attributes, size_t num_outputs,
                             int64_t opset = 24) {
    module_ = Module();
    module_.name = "test";
    Graph& graph = *module_.graphs.emplace_back(std::make_unique<Graph>());
    graph.name = "main";
    GraphBuilder g(module_, graph.body);
    Node node;
    node.domain = domain;
    node.op = op;
    node.outputs.assign(num_outputs, "y");
    node.attributes = std::move(attributes);
    HostBuffers buffers;
    std::vector<Tensor> tensors;
    for (const std::optional<Array>& input : inputs) {
      Tensor& t = tensors.emplace_back();
      if (!input) continue;
      if (input->shape.empty()) {  // a scalar is known
        t = {g.Const(input->type, input->data[0]), TypeFor(input->type), nullptr};
        continue;
      }
      BufferDecl decl;
      decl.dtype = input->type;
      decl.role = Role::kInput;
      for (const int64_t d : input->shape) decl.shape.push_back({.size = d});
      t = {g.Declare("x", decl), TypeFor(input->type), nullptr};
      buffers[module_.buffers.back().name] = BufferOf(input->type, input->shape, input->data);
    }
    NodeContext context(g, node, opset, tensors, *this);
    FindOperator(domain, op)->import(context);
    error_ = g.error();
    if (!g.ok()) return {};
    std::vector<const UOp*> roots;
    for (const Tensor& t : context.outputs) {
      EXPECT_TRUE(t.value);
      if (!t.value) return {};
      roots.push_back(t.value);
    }
    graph.body.root = g.ir().Sink(roots);
    Diagnostics diagnostics;
    VerifyModule(module_, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
    const auto result = InterpretGraph(module_, graph, buffers, {}, InterpretOptions());
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    std::vector<Array> arrays;
    for (size_t i = 0; result.ok() && i < roots.size(); ++i) {
      const auto& tensor = result->values[i];
      Array& a = arrays.emplace_back(Array{tensor.shape, {}, roots[i]->dtype.scalar()});
      for (const int64_t bits : *tensor.data) a.data.push_back(DoubleFromBits(a.type, bits));
    }
    return arrays;
  }

  // How many nodes of the last run's graph are of this op.
  size_t CountNodes(Op op) const {
    size_t n = 0;
    for (const UOp* u : PostOrder(module_.graphs[0]->body.root)) n += u->op == op;
    return n;
  }

  std::mt19937_64 rng_{1};
  Module module_;
  std::string error_;
};

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_NODE_TESTING_H_
