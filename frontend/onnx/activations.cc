#include "frontend/onnx/activations.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"

namespace tg::onnx {
namespace {

struct Activation {
  std::string_view name;
  int num_parameters;
  double alpha, beta;  // defaults
  Value (*build)(GraphBuilder& g, Value x, double alpha, double beta);
};

Value Line(GraphBuilder& g, Value x, double slope, double offset) {
  return g.Add(g.Mul(x, g.Like(x, slope)), g.Like(x, offset));
}

constexpr Activation kActivations[] = {
    {"Affine", 2, 1, 0, Line},
    {"Elu", 1, 1, 0,
     [](GraphBuilder& g, Value x, double alpha, double) {
       const Value low = g.Mul(g.Expm1(x), g.Like(x, alpha));
       return g.Where(g.Lt(x, g.Like(x, 0)), low, x);
     }},
    {"HardSigmoid", 2, 0.2f, 0.5,
     [](GraphBuilder& g, Value x, double alpha, double beta) {
       return g.Clip(Line(g, x, alpha, beta), g.Like(x, 0), g.Like(x, 1));
     }},
    {"LeakyRelu", 1, 0.01f, 0,
     [](GraphBuilder& g, Value x, double alpha, double) {
       return g.Where(g.Lt(x, g.Like(x, 0)), g.Mul(x, g.Like(x, alpha)), x);
     }},
    {"Relu", 0, 0, 0, [](GraphBuilder& g, Value x, double, double) { return g.Relu(x); }},
    {"ScaledTanh", 2, 1, 1,
     [](GraphBuilder& g, Value x, double alpha, double beta) {
       return g.Mul(g.Tanh(g.Mul(x, g.Like(x, beta))), g.Like(x, alpha));
     }},
    {"Sigmoid", 0, 0, 0, [](GraphBuilder& g, Value x, double, double) { return g.Sigmoid(x); }},
    {"Softplus", 0, 0, 0, [](GraphBuilder& g, Value x, double, double) { return g.Softplus(x); }},
    {"Softsign", 0, 0, 0,
     [](GraphBuilder& g, Value x, double, double) {
       return g.Div(x, g.Add(g.Abs(x), g.Like(x, 1)));
     }},
    {"Tanh", 0, 0, 0, [](GraphBuilder& g, Value x, double, double) { return g.Tanh(x); }},
    {"ThresholdedRelu", 1, 1, 0,
     [](GraphBuilder& g, Value x, double alpha, double) {
       return g.Where(g.Gt(x, g.Like(x, alpha)), x, g.Like(x, 0));
     }},
};

const Activation* FindActivation(std::string_view name) {
  const auto same = [](char a, char b) { return absl::ascii_tolower(a) == absl::ascii_tolower(b); };
  for (const Activation& a : kActivations) {
    if (std::equal(a.name.begin(), a.name.end(), name.begin(), name.end(), same)) return &a;
  }
  return nullptr;
}

}  // namespace

std::optional<int> NumActivationParameters(std::string_view name) {
  const Activation* a = FindActivation(name);
  return a ? std::optional(a->num_parameters) : std::nullopt;
}

Value Activate(GraphBuilder& g, std::string_view name, Value x, std::optional<double> alpha,
               std::optional<double> beta) {
  const Activation* a = FindActivation(name);
  if (!a) return g.Fail("the activation '" + std::string(name) + "' is not read");
  return x ? a->build(g, x, alpha.value_or(a->alpha), beta.value_or(a->beta)) : nullptr;
}

}  // namespace tg::onnx
