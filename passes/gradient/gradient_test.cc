// The derivatives against differences of values, which the interpreter computes in f64.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>

#include "ir/builder.h"
#include "ir/interpret/random_data.h"
#include "ir/interpret/run.h"
#include "ir/interpret/test_util.h"
#include "ir/shape.h"
#include "ir/verify/verifier.h"
#include "ir/view/shape_tracker.h"
#include "passes/gradient/recompute.h"
#include "passes/gradient/reverse_mode.h"
#include "passes/gradient/sink.h"

namespace tg::gradient {
namespace {

using interpret::HostBuffer;
using interpret::HostBuffers;
using interpret::Numbers;
using Ints = std::vector<int64_t>;

// A graph of f64 whose loss is the sum of its result's elements, each times another random number.
class Problem {
 public:
  // Adds a variable @x0, @x1, ... of this shape.
  const UOp* AddInput(const Ints& shape) {
    BufferDecl decl{
        .name = "x" + std::to_string(inputs_.size()), .dtype = kF64, .role = Role::kInput};
    for (const int64_t d : shape) decl.shape.push_back({.size = d});
    module_.buffers.push_back(decl);
    inputs_.push_back(b_.Buffer(decl.name, kF64));
    return inputs_.back();
  }
  Builder& b() { return b_; }
  Body& body() { return body_; }
  size_t num_checkpoints() const { return checkpoints_.size(); }
  ShapeMap& shapes() { return shapes_; }
  Module& module() { return module_; }

  const UOp* WeightedSum(const UOp* result) {
    const Shape shape = shapes_.Of(result);
    BufferDecl decl{
        .name = "weights" + std::to_string(num_sums_++), .dtype = kF64, .role = Role::kInput};
    for (const Dim& d : shape) decl.shape.push_back({.size = d.value()});
    module_.buffers.push_back(decl);
    const UOp* terms = b_.Mul(result, b_.Buffer(decl.name, kF64));
    if (shape.empty()) return terms;
    Ints axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    return b_.Reshape(b_.ReduceAxis(terms, Op::kAdd, axes), {});
  }

  // Sinks the loss and its gradients; `order` 2: the loss is a weighted sum of first derivatives.
  // With `segments`, they are computed from checkpoints.
  void Finish(const UOp* result, int order = 1, size_t segments = 0) {
    const UOp* loss = WeightedSum(result);
    std::vector<const UOp*> values = {loss};
    checkpoints_ = KeepCheckpoints(module_, body_, values, inputs_, segments, segments);
    loss = values[0];
    std::vector<const UOp*> gradients;
    for (int i = 0; i < order; ++i) {
      if (i > 0) {
        const UOp* sum = nullptr;
        for (const UOp* g : gradients) {
          const UOp* part = WeightedSum(g);
          sum = sum ? b_.Add(sum, part) : part;
        }
        loss = sum;
      }
      auto taken = Gradients(module_, body_, loss, inputs_, checkpoints_);
      ASSERT_TRUE(taken.ok()) << taken.status().message();
      gradients = *taken;
    }
    module_.buffers.push_back({.name = "loss", .dtype = kF64, .role = Role::kOutput});
    std::vector<SinkRoot> roots = {{loss, "loss"}};
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!gradients[i]) continue;
      BufferDecl decl = *module_.FindBuffer("x" + std::to_string(i));
      decl.name += ".grad";
      decl.role = Role::kOutput;
      roots.push_back({gradients[i], decl.name});
      module_.buffers.push_back(decl);
    }
    body_.root = b_.Sink(UOpSpan{});
    SetRoots(body_, roots);
    const absl::Status valid = VerifyModule(module_);
    ASSERT_TRUE(valid.ok()) << valid.message();
  }

  // Compares each gradient with central differences. Inputs are random from (low, high).
  void Check(uint64_t seed, double low = 0.3, double high = 1.7) {
    std::mt19937_64 rng(seed);
    HostBuffers given;
    for (const BufferDecl& decl : module_.buffers) {
      if (decl.role != Role::kInput) continue;
      Ints shape;
      for (const DeclDim& d : decl.shape) shape.push_back(d.size);
      Numbers values(static_cast<size_t>(interpret::NumElements(shape)));
      for (double& v : values) v = std::uniform_real_distribution<double>(low, high)(rng);
      given[decl.name] = interpret::BufferOf(Scalar::kF64, shape, values);
    }
    const HostBuffers at = Run(given);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::string name = "x" + std::to_string(i);
      const Numbers values = ToDoubles(given[name]);
      const auto found = at.find(name + ".grad");
      const Numbers gradient =
          found == at.end() ? Numbers(values.size(), 0) : ToDoubles(found->second);
      ASSERT_EQ(gradient.size(), values.size());
      for (size_t k = 0; k < values.size(); ++k) {
        constexpr double kStep = 1e-5;
        double sides[2];
        for (int side = 0; side < 2; ++side) {
          Numbers moved = values;
          moved[k] += side ? kStep : -kStep;
          HostBuffers changed = given;
          changed[name] = interpret::BufferOf(Scalar::kF64, given[name].shape, moved);
          sides[side] = ToDoubles(Run(changed).at("loss"))[0];
        }
        const double expected = (sides[1] - sides[0]) / (2 * kStep);
        EXPECT_NEAR(gradient[k], expected, 1e-6 * (1 + std::abs(expected)))
            << "@" << name << " element " << k << ", seed " << seed;
      }
    }
  }

  HostBuffers Run(const HostBuffers& inputs) {
    auto result = interpret::Interpret(module_, "main", inputs, {});
    if (!result.ok()) {
      ADD_FAILURE() << result.status().message();
      return {};
    }
    return *std::move(result);
  }

 private:
  static Module& Declare(Module& module) {
    module.name = "t";
    module.graphs.push_back(std::make_unique<Graph>());
    module.graphs[0]->name = "main";
    return module;
  }
  Module module_;
  Body& body_ = Declare(module_).graphs[0]->body;
  Builder b_{*body_.context};
  ShapeMap shapes_{module_, *body_.context};
  std::vector<const UOp*> inputs_, checkpoints_;
  int num_sums_ = 0;
};

// The op that is tested, of two inputs of one shape.
struct Function {
  const char* name;
  std::function<const UOp*(Problem&, const UOp*, const UOp*)> make;
};

const UOp* Number(Problem& p, double v) { return p.b().Const(kF64, v); }

const Function kFunctions[] = {
    {"exp2", [](Problem& p, auto x, auto) { return p.b().Alu(Op::kExp2, {x}); }},
    {"log2", [](Problem& p, auto x, auto) { return p.b().Alu(Op::kLog2, {x}); }},
    {"sin", [](Problem& p, auto x, auto) { return p.b().Alu(Op::kSin, {x}); }},
    {"sqrt", [](Problem& p, auto x, auto) { return p.b().Alu(Op::kSqrt, {x}); }},
    {"recip", [](Problem& p, auto x, auto) { return p.b().Alu(Op::kRecip, {x}); }},
    {"neg", [](Problem& p, auto x, auto) { return p.b().Alu(Op::kNeg, {x}); }},
    {"add", [](Problem& p, auto x, auto y) { return p.b().Add(x, p.b().Mul(y, y)); }},
    {"sub", [](Problem& p, auto x, auto y) { return p.b().Sub(x, p.b().Mul(y, y)); }},
    {"mul", [](Problem& p, auto x, auto y) { return p.b().Mul(x, y); }},
    {"square", [](Problem& p, auto x, auto) { return p.b().Mul(x, x); }},
    {"div",
     [](Problem& p, auto x, auto y) {
       return p.b().Alu(Op::kDiv, {x, y});
     }},
    {"mulacc",
     [](Problem& p, auto x, auto y) {
       return p.b().Alu(Op::kMulAcc, {x, y, x});
     }},
    {"where",
     [](Problem& p, auto x, auto y) { return p.b().Where(p.b().Lt(x, y), p.b().Mul(x, y), x); }},
    {"max",
     [](Problem& p, auto x, auto y) {
       return p.b().Alu(Op::kMax, {x, y});
     }},
    {"min",
     [](Problem& p, auto x, auto y) {
       return p.b().Alu(Op::kMin, {x, y});
     }},
    {"relu",
     [](Problem& p, auto x, auto y) {
       return p.b().Alu(Op::kMax, {p.b().Sub(x, y), Number(p, 0)});
     }},
    {"floor",
     [](Problem& p, auto x, auto) {
       return p.b().Alu(Op::kMin, {Number(p, 1), p.b().Alu(Op::kMax, {Number(p, 0.5), x})});
     }},
    {"pow",
     [](Problem& p, auto x, auto y) {
       return p.b().Alu(Op::kPow, {x, y});
     }},
    {"cube",
     [](Problem& p, auto x, auto) {
       return p.b().Alu(Op::kPow, {x, Number(p, 3)});
     }},
    {"trunc",
     [](Problem& p, auto x, auto y) {
       return p.b().Mul(y, p.b().Alu(Op::kTrunc, {p.b().Mul(x, Number(p, 10))}));
     }},
    {"contiguous",
     [](Problem& p, auto x, auto y) {
       return p.b().Mul(p.b().Alu(Op::kContiguousBackward, {x}), p.b().Alu(Op::kContiguous, {y}));
     }},
    {"scalar",
     [](Problem& p, auto x, auto y) {
       const Shape& shape = p.shapes().Of(y);
       Ints axes(shape.size());
       std::iota(axes.begin(), axes.end(), 0);
       return p.b().Mul(x, p.b().Reshape(p.b().ReduceAxis(y, Op::kAdd, axes), {}));
     }},
    {"max of an axis",
     [](Problem& p, auto x, auto) { return p.b().ReduceAxis(x, Op::kMax, Ints{1}); }},
    {"min of all",
     [](Problem& p, auto x, auto) {
       return p.b().ReduceAxis(x, Op::kMin, Ints{0, 1});
     }},
    {"product", [](Problem& p, auto x, auto) { return p.b().ReduceAxis(x, Op::kMul, Ints{1}); }},
    {"softmax",
     [](Problem& p, auto x, auto) {
       const UOp* e = p.b().Alu(Op::kExp2, {x});
       const UOp* sum = p.b().ReduceAxis(e, Op::kAdd, Ints{1});
       return p.b().Alu(Op::kDiv, {e, p.b().Expand(sum, p.shapes().Of(e))});
     }},
};

TEST(Gradient, Functions) {
  for (const Function& f : kFunctions) {
    for (const Ints& shape : {Ints{2, 3}, Ints{3, 4}, Ints{1, 5}}) {
      SCOPED_TRACE(f.name);
      Problem p;
      const UOp* x = p.AddInput(shape);
      const UOp* y = p.AddInput(shape);
      p.Finish(f.make(p, x, y));
      if (HasFatalFailure()) return;
      p.Check(static_cast<uint64_t>(shape[1]));
    }
  }
}

TEST(Gradient, SecondDerivatives) {
  int tested = 0;
  for (const Function& f : kFunctions) {
    const std::string name = f.name;
    const bool is_linear = name == "neg" || name == "max" || name == "min" || name == "relu" ||
                           name == "floor" || name == "trunc" || name == "max of an axis" ||
                           name == "min of all";
    if (is_linear) continue;  // their first derivative depends on no input
    SCOPED_TRACE(name);
    Problem p;
    const UOp* x = p.AddInput({2, 3});
    const UOp* y = p.AddInput({2, 3});
    p.Finish(p.b().Mul(f.make(p, x, y), p.b().Const(kF64, 0.5)), 1);
    if (HasFatalFailure()) return;
    Problem second;
    const UOp* x2 = second.AddInput({2, 3});
    const UOp* y2 = second.AddInput({2, 3});
    // The product makes each first derivative depend on both inputs.
    const UOp* result = f.make(second, x2, y2);
    if (second.shapes().Of(result) == second.shapes().Of(x2)) {
      result = second.b().Mul(result, second.b().Mul(x2, y2));
    }
    const UOp* sum = second.WeightedSum(result);
    second.Finish(second.b().Mul(sum, second.WeightedSum(second.b().Mul(x2, y2))), 2);
    if (HasFatalFailure()) return;
    second.Check(7);
    ++tested;
  }
  EXPECT_GE(tested, 10);
}

TEST(Gradient, DetachStopsIt) {
  Problem p;
  const UOp* x = p.AddInput({2, 3});
  const UOp* detached = p.b().Alu(Op::kDetach, {x});
  const UOp* loss = p.WeightedSum(p.b().Mul(detached, detached));
  auto taken = Gradients(p.module(), p.module().graphs[0]->body, loss, UOpSpan(&x, 1));
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ((*taken)[0], nullptr);
}

// One movement op, or reduction, with a random attribute.
const UOp* RandomStep(Problem& p, std::mt19937_64& rng, const UOp* x) {
  const Shape shape = p.shapes().Of(x);
  const auto random = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng);
  };
  Ints order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::pair<Dim, Dim>> pairs;
  Shape to = shape;
  Builder& b = p.b();
  switch (random(0, 8)) {
    case 0:
      std::shuffle(order.begin(), order.end(), rng);
      return b.Permute(x, order);
    case 1:
      return b.Flip(x, Ints{random(0, static_cast<int64_t>(shape.size()) - 1)});
    case 2:
      for (size_t i = 0; i < shape.size(); ++i) pairs.push_back({random(0, 1), random(0, 1)});
      return b.Pad(x, pairs);
    case 3:
      for (const Dim& d : shape) {
        const int64_t start = random(0, d.value() - 1);
        pairs.push_back({start, random(start + 1, d.value())});
      }
      return b.Shrink(x, pairs);
    case 4:
      to.insert(to.begin() + random(0, static_cast<int64_t>(shape.size())), Dim(1));
      x = b.Reshape(x, to);
      for (Dim& d : to) d = d.Is(1) ? Dim(random(1, 2)) : d;
      return b.Expand(x, to);
    case 5:
      to.insert(to.begin(), Dim(random(1, 2)));
      return b.Broadcast(x, to);
    case 6:
      return b.ReduceAxis(x, random(0, 1) ? Op::kAdd : Op::kMax,
                          Ints{random(0, static_cast<int64_t>(shape.size()) - 1)});
    case 7:
      return b.Reshape(x, {Dim(NumElements(shape))});
    default: {
      // Strides that overlap, repeat and run backwards, and a mask.
      const int64_t n = NumElements(shape);
      Shape extents;
      std::vector<Dim> strides;
      DimPairs mask;
      int64_t low = 0, high = 0;
      for (int64_t i = random(1, 3); i > 0; --i) {
        const int64_t extent = random(1, 3), stride = random(-3, 4);
        extents.push_back(extent);
        strides.push_back(stride);
        const int64_t start = random(0, extent - 1);
        mask.push_back({start, random(start + 1, extent)});
        (stride < 0 ? low : high) += (extent - 1) * stride;
      }
      if (high - low >= n) return x;
      if (random(0, 1)) mask.clear();
      View view = View::Make(b.context(), extents, strides, random(-low, n - 1 - high), mask);
      return MakeView(b, x, ShapeTracker::Of(b.context(), {view}));
    }
  }
}

TEST(Gradient, RandomMovements) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    std::mt19937_64 rng(seed);
    Problem p;
    const UOp* x = p.AddInput({2, 3});
    const UOp* y = p.AddInput({3, 2});
    const UOp* z = p.b().Mul(x, p.b().Permute(y, Ints{1, 0}));
    for (int step = 0; step < 5; ++step) {
      const UOp* next = RandomStep(p, rng, z);
      const Shape& shape = p.shapes().Of(next);
      if (shape.size() > 5 || NumElements(shape) > 200) break;
      z = step % 2 ? p.b().Mul(next, next) : next;
    }
    p.Finish(z);
    if (HasFatalFailure()) return;
    p.Check(seed);
    if (HasFailure()) return;
  }
}

// Between checkpoints, the derivatives read values that are computed again.
TEST(Gradient, Checkpoints) {
  const auto count = [](const Body& body, Op op) {
    const auto order = body.Order();
    return std::count_if(order.begin(), order.end(), [&](const UOp* u) { return u->op == op; });
  };
  for (const size_t segments : {0, 2, 3, 7, 40}) {
    Problem p;
    const UOp* x = p.AddInput({2, 3});
    constexpr int kLayers = 6;
    for (int i = 0; i < kLayers; ++i) {
      const UOp* sum = p.b().ReduceAxis(p.b().Mul(x, p.AddInput({2, 3})), Op::kAdd, Ints{1});
      x = p.b().Alu(Op::kSqrt, {p.b().Mul(x, p.b().Expand(sum, {2, 3}))});
    }
    p.Finish(x, 1, segments);
    if (HasFatalFailure()) return;
    // A layer has one place for a checkpoint behind a sum.
    const size_t most = std::min<size_t>(segments, kLayers + 1);
    EXPECT_GE(p.num_checkpoints() + 2, most) << segments;
    EXPECT_LT(p.num_checkpoints(), std::max<size_t>(most, 1)) << segments;
    const auto sums = count(p.body(), Op::kSqrt);
    EXPECT_EQ(sums > kLayers, segments > 2) << segments;
    p.Check(segments);
  }
}

// Windows as conv2d reads them, by strides 1 and 2.
TEST(Gradient, Windows) {
  for (const int64_t step : {1, 2}) {
    Problem p;
    const UOp* x = p.AddInput({2, 36});
    const int64_t out = step == 1 ? 4 : 2;
    const View view =
        View::Make(p.b().context(), {2, out, out, 3, 3}, {36, 6 * step, step, 6, 1}, 0, {});
    const UOp* windows = MakeView(p.b(), x, ShapeTracker::Of(p.b().context(), {view}));
    p.Finish(p.b().Mul(windows, windows));
    if (HasFatalFailure()) return;
    p.Check(3);
  }
}

Numbers GradientOf(const std::string& nodes, const Numbers& x) {
  auto module =
      ParseOrFail("tg 1\nmodule @t\nbuffer @x : f64[" + std::to_string(x.size()) +
                  "] input\nbuffer @x.grad : f64[" + std::to_string(x.size()) +
                  "] output\ngraph @main {\n  %x = buffer @x : f64\n" + nodes + "  sink %r\n}\n");
  Body& body = module->graphs[0]->body;
  const UOp* value = body.root->src(0);
  const UOp* variable = Builder(*body.context).Buffer("x", kF64);
  auto taken = Gradients(*module, body, value, UOpSpan(&variable, 1));
  if (!taken.ok()) {
    ADD_FAILURE() << taken.status().message();
    return {};
  }
  SetRoots(body, {{(*taken)[0], "x.grad"}});
  auto result = interpret::Interpret(
      *module, "main",
      {{"x", interpret::BufferOf(Scalar::kF64, {static_cast<int64_t>(x.size())}, x)}}, {});
  if (!result.ok()) {
    ADD_FAILURE() << result.status().message();
    return {};
  }
  return ToDoubles(result->at("x.grad"));
}

TEST(Gradient, Ties) {
  const std::string flipped = "  %y = flip %x {axes = [0]} : f64\n";
  EXPECT_EQ(GradientOf(flipped + "  %r = max %x, %y : f64\n", {2, 2}), (Numbers{1, 1}));
  EXPECT_EQ(GradientOf(flipped + "  %r = min %x, %y : f64\n", {2, 3, 2}), (Numbers{1, 1, 1}));
  EXPECT_EQ(GradientOf("  %z = const 0.0 : f64\n  %r = max %x, %z : f64\n", {-1, 0, 1}),
            (Numbers{0, 0, 1}));
  EXPECT_EQ(GradientOf("  %n = neg %x : f64\n  %r = max %x, %n : f64\n", {-1, 0, 1}),
            (Numbers{-1, 0, 1}));
  EXPECT_EQ(GradientOf("  %r = reduce_axis %x {op = max, axes = [0]} : f64\n", {3, 1, 3, 3, 3}),
            (Numbers{0.25, 0, 0.25, 0.25, 0.25}));
}

TEST(Gradient, ProductsWithZeros) {
  const std::string product = "  %r = reduce_axis %x {op = mul, axes = [0]} : f64\n";
  EXPECT_EQ(GradientOf(product, {2, 3, 4}), (Numbers{12, 8, 6}));
  EXPECT_EQ(GradientOf(product, {2, 0, 4}), (Numbers{0, 8, 0}));
  EXPECT_EQ(GradientOf(product, {2, 0, 0}), (Numbers{0, 0, 0}));
}

TEST(Gradient, PowersAtZero) {
  EXPECT_EQ(GradientOf("  %y = const 2.0 : f64\n  %r = pow %x, %y : f64\n", {0, 3}),
            (Numbers{0, 6}));
  // 0^x for x > 0 does not change with x.
  EXPECT_EQ(GradientOf("  %y = const 0.0 : f64\n  %r = pow %y, %x : f64\n", {1, 2}),
            (Numbers{0, 0}));
  // x^x at 1.
  EXPECT_EQ(GradientOf("  %r = pow %x, %x : f64\n", {1}), (Numbers{1}));
}

// Of the values of casts only those to floats matter; an assign's value is what it writes.
TEST(Gradient, CastsAndWrites) {
  EXPECT_EQ(GradientOf("  %f = cast %x : f32\n  %r = mul %f, %f : f32\n", {1, 2}), (Numbers{2, 4}));
  EXPECT_EQ(
      GradientOf("  %i = cast %x : i32\n  %j = cast %i : f64\n  %r = mul %j, %x : f64\n", {3, 2}),
      (Numbers{3, 2}));
}

TEST(Gradient, EveryOpIsCovered) {
  int counts[6] = {};
  for (int i = 0; i < kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    const RuleKind kind = KindOfRule(op);
    ++counts[static_cast<int>(kind)];
    EXPECT_NE(kind, RuleKind::kMissing) << Mnemonic(op);
  }
  std::printf(
      "ops: %d by a rule, %d by a function, %d refused, %d without floats, %d in no graph\n",
      counts[static_cast<int>(RuleKind::kPattern)], counts[static_cast<int>(RuleKind::kFunction)],
      counts[static_cast<int>(RuleKind::kRefused)], counts[static_cast<int>(RuleKind::kNoFloats)],
      counts[static_cast<int>(RuleKind::kNoGraphs)]);
  EXPECT_GE(counts[static_cast<int>(RuleKind::kPattern)], 16);
}

}  // namespace
}  // namespace tg::gradient
