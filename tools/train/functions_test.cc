// The derivatives of the functions that importers make of the IR's few ops, by the pass, against
// formulas: also at 0, where an expression changes its branch, and far out.
#include <cmath>
#include <functional>
#include <numbers>

#include "frontend/common/graph_builder.h"
#include "gtest/gtest.h"
#include "ir/interpret/run.h"
#include "ir/verify/verifier.h"
#include "passes/gradient/reverse_mode.h"
#include "passes/gradient/sink.h"

namespace tg::train {
namespace {

using frontend::GraphBuilder;
using frontend::Value;
using Numbers = std::vector<double>;

struct FunctionCase {
  const char* name;
  std::function<Value(GraphBuilder&, Value)> make;
  std::function<double(double)> first, second;
  double low = -HUGE_VAL, high = HUGE_VAL;  // where it is tested, without the ends
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Square(double x) { return x * x; }

// Densities of the normal distribution.
double Bell(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

std::vector<FunctionCase> Cases() {
  using G = GraphBuilder;
  const auto zero = [](double) { return 0.0; };
  const double two_by_root_pi = 2 / std::sqrt(std::numbers::pi);
  return {
      {"exp", &G::Exp, [](double x) { return std::exp(x); }, [](double x) { return std::exp(x); },
       -700, 80},
      {"log", &G::Log, [](double x) { return 1 / x; }, [](double x) { return -1 / (x * x); }, 0},
      {"log1p", &G::Log1p, [](double x) { return 1 / (1 + x); },
       [](double x) { return -1 / Square(1 + x); }, -0.9},
      {"expm1", &G::Expm1, [](double x) { return std::exp(x); },
       [](double x) { return std::exp(x); }, -HUGE_VAL, 80},
      {"sin", &G::Sin, [](double x) { return std::cos(x); }, [](double x) { return -std::sin(x); },
       -200, 200},
      {"cos", &G::Cos, [](double x) { return -std::sin(x); }, [](double x) { return -std::cos(x); },
       -200, 200},
      {"tan", &G::Tan, [](double x) { return 1 / Square(std::cos(x)); },
       [](double x) { return 2 * std::tan(x) / Square(std::cos(x)); }, -1.3, 1.3},
      {"atan", &G::Atan, [](double x) { return 1 / (1 + x * x); },
       [](double x) { return -2 * x / Square(1 + x * x); }},
      {"asin", &G::Asin, [](double x) { return 1 / std::sqrt(1 - x * x); },
       [](double x) { return x / std::pow(1 - x * x, 1.5); }, -0.9, 0.9},
      {"acos", &G::Acos, [](double x) { return -1 / std::sqrt(1 - x * x); },
       [](double x) { return -x / std::pow(1 - x * x, 1.5); }, -0.9, 0.9},
      {"sinh", &G::Sinh, [](double x) { return std::cosh(x); },
       [](double x) { return std::sinh(x); }, -20, 20},
      {"cosh", &G::Cosh, [](double x) { return std::sinh(x); },
       [](double x) { return std::cosh(x); }, -20, 20},
      {"tanh", &G::Tanh, [](double x) { return 1 / Square(std::cosh(x)); },
       [](double x) { return -2 * std::tanh(x) / Square(std::cosh(x)); }},
      {"asinh", &G::Asinh, [](double x) { return 1 / std::sqrt(1 + x * x); },
       [](double x) { return -x / std::pow(1 + x * x, 1.5); }},
      {"acosh", &G::Acosh, [](double x) { return 1 / std::sqrt(x * x - 1); },
       [](double x) { return -x / std::pow(x * x - 1, 1.5); }, 1.5},
      {"atanh", &G::Atanh, [](double x) { return 1 / (1 - x * x); },
       [](double x) { return 2 * x / Square(1 - x * x); }, -0.9, 0.9},
      {"erf", &G::Erf, [=](double x) { return two_by_root_pi * std::exp(-x * x); },
       [=](double x) { return -2 * x * two_by_root_pi * std::exp(-x * x); }},
      {"sigmoid", &G::Sigmoid, [](double x) { return Sigmoid(x) * Sigmoid(-x); },
       [](double x) { return Sigmoid(x) * Sigmoid(-x) * (Sigmoid(-x) - Sigmoid(x)); }, -700},
      {"softplus", &G::Softplus, Sigmoid, [](double x) { return Sigmoid(x) * Sigmoid(-x); }},
      {"gelu", &G::Gelu,
       [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * Bell(x); },
       [](double x) { return (2 - x * x) * Bell(x); }},
      {"abs", &G::Abs, [](double x) { return x > 0   ? 1.0
                                             : x < 0 ? -1.0
                                                     : 0.0; }, zero},
      {"round", &G::Round, zero, zero},
      {"floor", &G::Floor, zero, zero},
      {"copysign", [](G& g, Value v) { return g.CopySign(g.Mul(v, v), v); },
       [](double x) { return 2 * std::abs(x); }, nullptr},
  };
}

// Runs the graph of a function and its first two derivatives.
std::vector<Numbers> Derivatives(const FunctionCase& test, Scalar type, const Numbers& x) {
  Module module;
  module.name = "t";
  Graph& graph = *module.graphs.emplace_back(std::make_unique<Graph>());
  graph.name = "main";
  GraphBuilder g(module, graph.body);
  const std::vector<DeclDim> shape = {{.size = static_cast<int64_t>(x.size())}};
  const Value v = g.Declare("x", {.dtype = type, .shape = shape, .role = Role::kInput});
  Value value = test.make(g, v);
  EXPECT_TRUE(g.ok()) << g.error();
  std::vector<gradient::SinkRoot> roots;
  for (const char* name : {"first", "second"}) {
    const auto taken = gradient::Gradients(module, graph.body, value, UOpSpan(&v, 1));
    if (!taken.ok()) {
      ADD_FAILURE() << taken.status().message();
      return {};
    }
    value = (*taken)[0] ? (*taken)[0] : g.BroadcastTo(g.Const(type, 0), g.ShapeOf(v));
    g.Declare(name, {.dtype = type, .shape = shape, .role = Role::kOutput});
    roots.push_back({value, name});
  }
  graph.body.root = g.ir().Sink({});
  gradient::SetRoots(graph.body, roots);
  EXPECT_TRUE(VerifyModule(module).ok()) << VerifyModule(module).message();
  const auto result = interpret::Interpret(
      module, "main", {{"x", interpret::BufferOf(type, {static_cast<int64_t>(x.size())}, x)}}, {});
  if (!result.ok()) {
    ADD_FAILURE() << result.status().message();
    return {};
  }
  return {interpret::ToDoubles(result->at("first")), interpret::ToDoubles(result->at("second"))};
}

void CheckDerivatives(Scalar type, double first_bound, double second_bound) {
  for (const FunctionCase& test : Cases()) {
    SCOPED_TRACE(test.name);
    Numbers points;
    for (const double x : {0.0, 1e-6, 1e-3, 0.03, 0.2, 0.34, 0.36, 0.7, 0.999, 1.001, 1.6, 3.3, 5.5,
                           6.5, 25.0, 95.0, 750.0, 1e12}) {
      for (const double signed_x : {x, -x}) {
        const double point = type == Scalar::kF32 ? static_cast<float>(signed_x) : signed_x;
        if (test.low < point && point < test.high) points.push_back(point);
      }
    }
    const std::vector<Numbers> found = Derivatives(test, type, points);
    ASSERT_EQ(found.size(), 2u);
    for (size_t i = 0; i < points.size(); ++i) {
      const double first = test.first(points[i]);
      EXPECT_NEAR(found[0][i], first, first_bound * (1 + std::abs(first))) << "at " << points[i];
      if (!test.second) continue;
      const double second = test.second(points[i]);
      EXPECT_NEAR(found[1][i], second, second_bound * (1 + std::abs(second)))
          << "second, at " << points[i];
    }
  }
}

TEST(FunctionDerivatives, OfF64) { CheckDerivatives(Scalar::kF64, 1e-11, 1e-9); }
TEST(FunctionDerivatives, OfF32) { CheckDerivatives(Scalar::kF32, 1e-5, 1e-3); }

// A float made of another one's bits would seem to be a constant.
TEST(FunctionDerivatives, BitsAreRefused) {
  Module module;
  module.name = "t";
  Graph& graph = *module.graphs.emplace_back(std::make_unique<Graph>());
  graph.name = "main";
  GraphBuilder g(module, graph.body);
  const Value v = g.Declare("x", {.dtype = kF32, .shape = {{.size = 4}}, .role = Role::kInput});
  const auto gradient_of = [&](Scalar word, auto bits) {
    const Value made = g.Bitcast(bits(g.Bitcast(v, word)), Scalar::kF32);
    return gradient::Gradients(module, graph.body, g.Mul(made, v), UOpSpan(&v, 1));
  };
  const auto shifted = gradient_of(
      Scalar::kU32, [&](Value w) { return g.Binary(Op::kShr, w, g.ConstInt(Scalar::kU32, 1)); });
  ASSERT_FALSE(shifted.ok());
  EXPECT_NE(shifted.status().message().find("has no derivative: it takes the bits of a float"),
            std::string::npos)
      << shifted.status().message();
  // What depends on a comparison of bits jumps.
  const auto compared = gradient_of(Scalar::kI32, [&](Value w) {
    const Value zero = g.ConstInt(Scalar::kI32, 0);
    return g.Where(g.Lt(w, zero), zero, g.ConstInt(Scalar::kI32, 0x3f800000));
  });
  EXPECT_TRUE(compared.ok()) << compared.status().message();
}

}  // namespace
}  // namespace tg::train
