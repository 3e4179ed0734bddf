// Some steps of each optimizer, as the interpreter runs them, against the formulas in f64.
#include "tools/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "gtest/gtest.h"
#include "ir/interpret/run.h"
#include "ir/verify/verifier.h"
#include "passes/gradient/sink.h"

namespace tg::train {
namespace {

using frontend::GraphBuilder;
using frontend::Value;
using interpret::HostBuffers;
using Numbers = std::vector<double>;

// The weights are @w, a matrix, and @b, a vector; the gradient of each is an input.
constexpr int kSteps = 6;
const Numbers kMatrix = {0.5, -1.25, 2, 0.75}, kVector = {0.1, -0.3};

Numbers GradientAt(int step, size_t size, double phase) {
  Numbers gradient(size);
  for (size_t i = 0; i < size; ++i) {
    gradient[i] = std::sin(1.7 * step + 0.9 * static_cast<double>(i) + phase);
  }
  return gradient;
}

// The weights after kSteps steps of the module.
std::pair<Numbers, Numbers> RunSteps(const OptimizerSpec& spec, const RateSchedule& schedule) {
  Module module;
  module.name = "t";
  Graph& graph = *module.graphs.emplace_back(std::make_unique<Graph>());
  graph.name = "main";
  GraphBuilder g(module, graph.body);
  const auto declare = [&](const char* name, std::vector<DeclDim> shape, Role role) {
    return g.Declare(name, {.dtype = kF32, .shape = std::move(shape), .role = role});
  };
  const Value w = declare("w", {{.size = 2}, {.size = 2}}, Role::kState);
  const Value b = declare("b", {{.size = 2}}, Role::kState);
  const Value dw = declare("dw", {{.size = 2}, {.size = 2}}, Role::kInput);
  const Value db = declare("db", {{.size = 2}}, Role::kInput);
  const auto writes = MakeUpdate(g, spec, schedule, {{"w", w, dw}, {"b", b, db}});
  EXPECT_TRUE(g.ok()) << g.error();
  graph.body.root = g.ir().Sink(writes);
  EXPECT_TRUE(VerifyModule(module).ok()) << VerifyModule(module).message();
  HostBuffers buffers = {{"w", interpret::BufferOf(Scalar::kF32, {2, 2}, kMatrix)},
                         {"b", interpret::BufferOf(Scalar::kF32, {2}, kVector)}};
  for (const BufferDecl& decl : module.buffers) {
    if (decl.role != Role::kState || buffers.count(decl.name)) continue;
    std::vector<int64_t> shape;
    for (const DeclDim& d : decl.shape) shape.push_back(d.size);
    const Numbers zeros(static_cast<size_t>(interpret::NumElements(shape)));
    buffers[decl.name] = interpret::BufferOf(decl.dtype.scalar(), shape, zeros);
  }
  for (int step = 0; step < kSteps; ++step) {
    buffers["dw"] = interpret::BufferOf(Scalar::kF32, {2, 2}, GradientAt(step, 4, 0));
    buffers["db"] = interpret::BufferOf(Scalar::kF32, {2}, GradientAt(step, 2, 5));
    auto written = interpret::Interpret(module, "main", buffers, {});
    if (!written.ok()) {
      ADD_FAILURE() << written.status().message();
      return {};
    }
    for (auto& [name, buffer] : *written) buffers[name] = buffer;
  }
  EXPECT_EQ(ToDoubles(buffers["train.step"])[0], kSteps);
  return {ToDoubles(buffers["w"]), ToDoubles(buffers["b"])};
}

// One number: its weight and what an optimizer remembers of it.
struct Number {
  double w = 0, m = 0, v = 0;
};
// Changes a number by its gradient; t counts steps from 1.
using Formula = std::function<void(Number& n, double gradient, double rate, int t, bool decays)>;

void Expect(const char* text, const char* schedule_text, const Formula& formula,
            const std::function<double(int)>& rate = nullptr) {
  SCOPED_TRACE(text);
  const auto spec = ParseOptimizer(text);
  ASSERT_TRUE(spec.ok()) << spec.status().message();
  auto schedule = ParseSchedule(schedule_text);
  ASSERT_TRUE(schedule.ok()) << schedule.status().message();
  schedule->total = kSteps;
  const auto [matrix, vector] = RunSteps(*spec, *schedule);
  ASSERT_EQ(matrix.size(), 4u);
  std::vector<Number> numbers;
  for (const double w : kMatrix) numbers.push_back({.w = w});
  for (const double w : kVector) numbers.push_back({.w = w});
  for (int step = 0; step < kSteps; ++step) {
    Numbers gradients = GradientAt(step, 4, 0);
    for (const double d : GradientAt(step, 2, 5)) gradients.push_back(d);
    double norm = 0;
    for (const double d : gradients) norm += d * d;
    const double scale = std::min(1.0, spec->clip / (std::sqrt(norm) + 1e-6));
    for (size_t i = 0; i < numbers.size(); ++i) {
      const bool decays = !spec->decay_matrices_only || i < 4;
      formula(numbers[i], gradients[i] * scale, spec->rate * (rate ? rate(step) : 1), step + 1,
              decays);
    }
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_NEAR(i < 4 ? matrix[i] : vector[i - 4], numbers[i].w, 2e-6) << i;
  }
}

Formula Sgd(double momentum, double decay, bool nesterov) {
  return [=](Number& n, double g, double rate, int, bool decays) {
    if (decays) g += decay * n.w;
    n.m = momentum * n.m + g;
    n.w -= rate * (nesterov ? g + momentum * n.m : n.m);
  };
}

Formula Adam(double decay, bool decoupled, double epsilon = 1e-8) {
  return [=](Number& n, double g, double rate, int t, bool decays) {
    if (decays && !decoupled) g += decay * n.w;
    if (decays && decoupled) n.w *= 1 - rate * decay;
    n.m = 0.9 * n.m + 0.1 * g;
    n.v = 0.999 * n.v + 0.001 * g * g;
    n.w -= rate * (n.m / (1 - std::pow(0.9, t))) /
           (std::sqrt(n.v / (1 - std::pow(0.999, t))) + epsilon);
  };
}

TEST(Optimizer, Sgd) {
  Expect("sgd:lr=0.1", "constant", Sgd(0, 0, false));
  Expect("sgd:lr=0.1:momentum=0.9:decay=0.01", "constant", Sgd(0.9, 0.01, false));
  Expect("sgd:lr=0.1:momentum=0.8:nesterov", "constant", Sgd(0.8, 0, true));
}

TEST(Optimizer, Adam) {
  Expect("adam:lr=0.05", "constant", Adam(0, false));
  Expect("adam:lr=0.05:decay=0.1", "constant", Adam(0.1, false));
  Expect("adamw:lr=0.05", "constant", Adam(0.01, true));
  Expect("adamw:lr=0.05:decay=0.2:eps=1e-3", "constant", Adam(0.2, true, 1e-3));
}

TEST(Optimizer, Lion) {
  Expect("lion:lr=0.01:decay=0.1", "constant", [](Number& n, double g, double rate, int, bool) {
    const double c = 0.9 * n.m + 0.1 * g;
    n.w = n.w * (1 - rate * 0.1) - rate * (c > 0 ? 1 : c < 0 ? -1 : 0);
    n.m = 0.99 * n.m + 0.01 * g;
  });
}

TEST(Optimizer, ClipsTheNormOfAllGradients) {
  Expect("sgd:lr=0.1:clip=0.5", "constant", Sgd(0, 0, false));
  Expect("sgd:lr=0.1:clip=100", "constant", Sgd(0, 0, false));
}

TEST(Optimizer, DecaysMatricesOnly) {
  Expect("adamw:lr=0.05:decay=0.5:matrices", "constant", Adam(0.5, true));
  Expect("sgd:lr=0.1:decay=0.5:matrices", "constant", Sgd(0, 0.5, false));
}

TEST(Optimizer, Schedules) {
  const auto warm = [](int step, int n) { return std::min(1.0, (step + 1.0) / n); };
  Expect("sgd:lr=0.1", "constant:warmup=3", Sgd(0, 0, false), [&](int s) { return warm(s, 3); });
  Expect("sgd:lr=0.1", "linear", Sgd(0, 0, false), [](int s) { return 1 - s / 6.0; });
  Expect("sgd:lr=0.1", "cosine:warmup=2", Sgd(0, 0, false), [&](int s) {
    const double part = std::clamp((s - 2) / 4.0, 0.0, 1.0);
    return warm(s, 2) * 0.5 * (1 + std::cos(std::numbers::pi * part));
  });
}

// A graph with one weight, whose gradient is an input, and the buffers between its steps.
class OneWeight {
 public:
  OneWeight(const char* optimizer, Scalar type, double initial_scale) : type_(type) {
    module_.name = "t";
    Graph& graph = *module_.graphs.emplace_back(std::make_unique<Graph>());
    graph.name = "main";
    GraphBuilder g(module_, graph.body);
    const Value scale = initial_scale > 0 ? MakeLossScale(g, initial_scale) : nullptr;
    const Value w = g.Declare("w", {.dtype = type, .shape = {{.size = 2}}, .role = Role::kState});
    const Value dw = g.Declare("dw", {.dtype = type, .shape = {{.size = 2}}, .role = Role::kInput});
    const auto writes = MakeUpdate(g, *ParseOptimizer(optimizer), {}, {{"w", w, dw}}, scale);
    EXPECT_TRUE(g.ok()) << g.error();
    graph.body.root = g.ir().Sink(writes);
    EXPECT_TRUE(VerifyModule(module_).ok()) << VerifyModule(module_).message();
    for (const BufferDecl& decl : module_.buffers) {
      if (decl.role == Role::kTemp) continue;
      std::vector<int64_t> shape;
      for (const DeclDim& d : decl.shape) shape.push_back(d.size);
      Set(decl.name, decl.dtype.scalar(), shape, Numbers(shape.empty() ? 1 : 2, 0));
    }
    Set("w", type, {2}, {1, -2});
  }

  void Step(const Numbers& gradient) {
    Set("dw", type_, {2}, gradient);
    auto written = interpret::Interpret(module_, "main", buffers_, {});
    ASSERT_TRUE(written.ok()) << written.status().message();
    for (auto& [name, buffer] : *written) buffers_[name] = buffer;
  }
  Numbers Get(const char* name) { return ToDoubles(buffers_.at(name)); }

 private:
  void Set(const std::string& name, Scalar type, const std::vector<int64_t>& shape,
           const Numbers& numbers) {
    buffers_[name] = interpret::BufferOf(type, shape, numbers);
  }
  Scalar type_;
  Module module_;
  HostBuffers buffers_;
};

// Each step changes a weight by less than half of its last place.
TEST(Optimizer, HalvesHaveMastersOfF32) {
  for (const Scalar type : {Scalar::kF16, Scalar::kBF16}) {
    OneWeight run("sgd:lr=0.0625", type, 0);
    const double unit = type == Scalar::kF16 ? 0x1p-11 : 0x1p-8;  // below 1
    for (int i = 0; i < 64; ++i) run.Step({unit, 0});
    EXPECT_EQ(run.Get("w"), (Numbers{1 - 4 * unit, -2}));
    EXPECT_EQ(run.Get("w.master"), (Numbers{1 - 4 * unit, -2}));
  }
}

TEST(Optimizer, LossScale) {
  OneWeight run("adam:lr=0.5:beta1=0.5:beta2=0.5", Scalar::kF16, 1024);
  run.Step({HUGE_VAL, 1});
  // Nothing changed but the scale.
  EXPECT_EQ(run.Get("w"), (Numbers{1, -2}));
  EXPECT_EQ(run.Get("w.momentum"), (Numbers{0, 0}));
  EXPECT_EQ(run.Get("train.step"), Numbers{0});
  EXPECT_EQ(run.Get("train.scale"), Numbers{512});
  run.Step({512, -1024});  // gradients of 1 and -2
  EXPECT_EQ(run.Get("w.momentum"), (Numbers{0.5, -1}));
  EXPECT_EQ(run.Get("train.step"), Numbers{1});
  EXPECT_EQ(run.Get("train.scale"), Numbers{512});
  EXPECT_EQ(run.Get("train.scale.steps"), Numbers{1});
  for (int i = 1; i < kStepsOfScale; ++i) run.Step({0, 0});
  EXPECT_EQ(run.Get("train.scale"), Numbers{1024});
  EXPECT_EQ(run.Get("train.scale.steps"), Numbers{0});
  // With the least scale a gradient that is not finite is written, so that the loss shows it.
  for (int i = 0; i < 11; ++i) run.Step({NAN, 0});
  EXPECT_TRUE(std::isnan(run.Get("w")[0]));
}

TEST(Optimizer, Errors) {
  const auto error = [](const char* text) {
    return std::string(ParseOptimizer(text).status().message());
  };
  EXPECT_EQ(error("adan"), "there is no optimizer 'adan'; there are sgd, adam, adamw and lion");
  EXPECT_EQ(error("adam:lr=x"), "lr is 'x', not a number that it may be");
  EXPECT_EQ(error("adam:lr=-1"), "lr is '-1', not a number that it may be");
  EXPECT_EQ(error("adam:momentum=0.9"), "adam has no option 'momentum'");
  EXPECT_EQ(error("adam:nesterov"), "adam has no option 'nesterov'");
  EXPECT_EQ(error("adam:lr=1:lr=2"), "'lr' is given twice");
  EXPECT_EQ(error("adam::lr=1"), "a part of 'adam::lr=1' is empty");
  EXPECT_EQ(ParseSchedule("step").status().message(),
            "there is no schedule 'step'; there are constant, linear and cosine");
  EXPECT_EQ(ParseSchedule("cosine:warmup=1.5").status().message(), "warmup is a number of steps");
}

}  // namespace
}  // namespace tg::train
