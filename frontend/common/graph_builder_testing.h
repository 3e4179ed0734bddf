// A module that is built and then interpreted, and arrays of expected numbers.
#ifndef TG_FRONTEND_COMMON_GRAPH_BUILDER_TESTING_H_
#define TG_FRONTEND_COMMON_GRAPH_BUILDER_TESTING_H_

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frontend/common/graph_builder.h"
#include "gtest/gtest.h"
#include "ir/interpret/graph.h"
#include "ir/interpret/host_buffer.h"
#include "ir/value.h"
#include "ir/verify/verifier.h"

namespace tg::frontend {

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

inline int64_t Count(const Ints& shape) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return n;
}

// Calls f(coordinates) for every element, row-major.
inline void ForEach(const Ints& shape, const std::function<void(const Ints&)>& f) {
  Ints at(shape.size(), 0);
  for (int64_t i = 0; i < Count(shape); ++i) {
    f(at);
    for (size_t k = shape.size(); k-- > 0;) {
      if (++at[k] < shape[k]) break;
      at[k] = 0;
    }
  }
}

class GraphBuilderTest : public testing::Test {
 protected:
  GraphBuilderTest() : graph_(*module_.graphs.emplace_back(std::make_unique<Graph>())) {
    module_.name = "test";
    graph_.name = "main";
    g_ = std::make_unique<GraphBuilder>(module_, graph_.body);
  }

  Array Random(Ints shape, double low = -1, double high = 1) {
    std::uniform_real_distribution<double> d(low, high);
    Array a{shape, {}};
    for (int64_t i = 0; i < Count(shape); ++i) a.data.push_back(d(rng_));
    return a;
  }

  Value Input(const Array& a) { return Input(a, a.type); }
  Value Input(const Array& a, Scalar type) {
    BufferDecl decl;
    decl.dtype = type;
    decl.role = Role::kInput;
    for (const int64_t d : a.shape) decl.shape.push_back({.size = d});
    const Value v = g_->Declare("x", decl);
    inputs_[module_.buffers.back().name] = interpret::BufferOf(type, a.shape, a.data);
    return v;
  }

  // An input whose axis 0 is variable `name` up to `max`; the run gives it this one's extent.
  Value SymbolicInput(const Array& a, const std::string& name, int64_t max) {
    if (!module_.FindVar(name)) module_.vars.push_back({.name = name, .min = 1, .max = max});
    BufferDecl decl;
    decl.dtype = a.type;
    decl.role = Role::kInput;
    for (const int64_t d : a.shape) decl.shape.push_back({.size = d});
    decl.shape[0] = {.var = name};
    const Value v = g_->Declare("x", decl);
    inputs_[module_.buffers.back().name] = interpret::BufferOf(a.type, a.shape, a.data);
    vars_[name] = a.shape[0];
    return v;
  }

  // Its elements are known before a run.
  Value Known(const Array& a, Scalar type = Scalar::kF64) {
    Ints bits;
    for (const double v : a.data) bits.push_back(BitsFromDouble(type, v));
    return g_->Constant(type, a.shape, std::move(bits));
  }

  Array Evaluate(Value v) {
    std::vector<Array> arrays = Evaluate(std::vector<Value>{v});
    return arrays.empty() ? Array() : std::move(arrays[0]);
  }

  // The interpreter's results; none where there was an error, which fails the test.
  std::vector<Array> Evaluate(const std::vector<Value>& values) {
    EXPECT_TRUE(g_->ok()) << g_->error();
    for (const Value v : values) {
      EXPECT_NE(v, nullptr);
      if (!v) return {};
    }
    std::vector<Value> roots = values;
    const std::vector<Value> measures = g_->MeasuresOf(values);
    roots.insert(roots.end(), measures.begin(), measures.end());
    graph_.body.root = g_->ir().Sink(roots);
    Diagnostics diagnostics;
    VerifyModule(module_, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
    interpret::InterpretOptions options;
    const auto result = interpret::InterpretGraph(module_, graph_, inputs_, vars_, options);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    std::vector<Array> arrays;
    for (size_t i = 0; result.ok() && i < values.size(); ++i) {
      const auto& tensor = result->values[i];
      Array& a = arrays.emplace_back(Array{tensor.shape, {}, values[i]->dtype.scalar()});
      for (const int64_t bits : *tensor.data) a.data.push_back(DoubleFromBits(a.type, bits));
    }
    return arrays;
  }

  void ExpectElements(Value v, const Ints& shape, const std::function<double(const Ints&)>& f,
                      double tolerance = 1e-9) {
    const Array actual = Evaluate(v);
    ASSERT_EQ(actual.shape, shape);
    ForEach(shape, [&](const Ints& at) {
      EXPECT_NEAR(actual(at), f(at), tolerance) << testing::PrintToString(at);
    });
  }

  std::mt19937_64 rng_{1};
  Module module_;
  Graph& graph_;
  std::unique_ptr<GraphBuilder> g_;
  interpret::HostBuffers inputs_;
  interpret::VarValues vars_;
};

}  // namespace tg::frontend

#endif  // TG_FRONTEND_COMMON_GRAPH_BUILDER_TESTING_H_
