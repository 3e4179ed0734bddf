// Runs of sessions with plans for single sizes, compared with the interpreter.
#include "runtime/specialize/specializer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "ir/interpret/options.h"
#include "passes/pipeline.h"
#include "runtime/session/open.h"
#include "runtime/session/open_devices.h"
#include "runtime/session/session_testing.h"

namespace tg::specialize {
namespace {

using runtime::DeviceSession;
using runtime::Floats;
using runtime::HostTensor;
using runtime::Values;

// A product with weights that @init computes, on a state to which each run adds, so that a run
// depends on all runs before it.
constexpr char kText[] = R"(tg 1
module @m
var @n : [1, 12]
var @other : [0, 9]
buffer @x : f32[@n, 4] input
buffer @w : f32[4, 4] param
buffer @s : f32[4] state
buffer @rows : f32[12, 4] state
buffer @y : f32[@n, 4] output

graph @main {
  %n = var @n : index
  %w = buffer @w : f32
  %w1 = exp2 %w : f32
  %w2 = sqrt %w1 : f32
  %w3 = exp2 %w2 : f32
  %w4 = sqrt %w3 : f32
  %wr = reshape %w4 {shape = [1, 4, 4]} : f32
  %we = expand %wr {shape = [%n, 4, 4]} : f32
  %x = buffer @x : f32
  %xr = reshape %x {shape = [%n, 1, 4]} : f32
  %xe = expand %xr {shape = [%n, 4, 4]} : f32
  %p = mul %xe, %we : f32
  %sum = reduce_axis %p {op = add, axes = [2]} : f32
  %flat = reshape %sum {shape = [%n, 4]} : f32
  %s = buffer @s : f32
  %sr = reshape %s {shape = [1, 4]} : f32
  %se = expand %sr {shape = [%n, 4]} : f32
  %y = add %flat, %se : f32
  %all = reduce_axis %y {op = max, axes = [0]} : f32
  %new = reshape %all {shape = [4]} : f32
  %half = const 0.5 : f32
  %half1 = reshape %half {shape = [1]} : f32
  %half4 = expand %half1 {shape = [4]} : f32
  %next = mul %new, %half4 : f32
  %a = assign %s, %next : f32
  %rows = buffer @rows : f32
  %part = shrink %rows {ranges = [(0, %n), (0, 4)]} : f32
  %b = assign %part, %y : f32
  sink %y -> @y, %a, %b
}
)";

std::unique_ptr<Module> Parse(const std::string& text) {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ParseModule(text, "test.uop", diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
  return module;
}

constexpr passes::Pass kFailing = {
    "failing", "Fails.", {}, [](Module&, passes::PassContext&) -> absl::Status {
      return absl::InternalError("planted");
    }};

// A session on the native device, and the interpreter, which get the same calls.
class Both {
 public:
  explicit Both(SpecializeOptions options, const std::string& text = kText,
                const passes::Pipeline& pipeline = passes::MakePipeline(passes::kPipeline)) {
    std::unique_ptr<Module> module = Parse(text);
    runtime::DeviceSessionOptions session;
    const auto chosen = runtime::ChooseDevices(*module, {"native", {}});
    EXPECT_TRUE(chosen.ok()) << chosen.status();
    EXPECT_TRUE(runtime::OpenDevices(*module, *chosen, "", false, session).ok());
    specializer = Specializer::Create(*module, pipeline, session, options);
    session.chooser = specializer;
    std::unique_ptr<Module> compiled = Clone(*module);
    EXPECT_TRUE(
        runtime::CompileForDevices(*compiled, passes::MakePipeline(passes::kPipeline), {}, session)
            .ok());
    auto made = DeviceSession::Create(std::move(compiled), std::move(session));
    EXPECT_TRUE(made.ok()) << made.status();
    device = *std::move(made);
    const auto interpret = interpret::OptionsFor(*module);
    reference = std::make_unique<runtime::ReferenceSession>(std::move(module), interpret);
  }

  void Set(const std::string& name, const HostTensor& tensor) {
    for (runtime::Session* s : sessions()) ASSERT_TRUE(s->Set(name, tensor).ok());
  }
  HostTensor Random(std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t n : shape) count *= n;
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(std::uniform_real_distribution<float>(-1, 1)(rng));
    }
    return Floats(std::move(shape), values);
  }
  void Run(int64_t n, const std::vector<std::string>& outputs = {"y", "s", "rows"}) {
    Set("x", Random({n, 4}));
    for (runtime::Session* s : sessions()) {
      const absl::Status status = s->Run();
      ASSERT_TRUE(status.ok()) << status;
    }
    for (const std::string& name : outputs) {
      const auto got = device->Get(name), want = reference->Get(name);
      ASSERT_TRUE(got.ok() && want.ok()) << got.status() << want.status();
      ASSERT_EQ(got->shape, want->shape) << name;
      const std::vector<float> a = Values(*got), b = Values(*want);
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_NEAR(a[i], b[i], 1e-4 * (1 + std::abs(b[i]))) << name << "[" << i << "], n = " << n;
      }
    }
  }
  // Sets and runs at random.
  void Walk(int steps, int64_t sizes) {
    Set("w", Random({4, 4}));
    for (int i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
      const int64_t what = std::uniform_int_distribution<int64_t>(0, 9)(rng);
      if (what == 0) Set("w", Random({4, 4}));
      if (what == 1) Set("s", Random({4}));
      Run(std::uniform_int_distribution<int64_t>(1, sizes)(rng));
    }
  }
  std::vector<runtime::Session*> sessions() const { return {device.get(), reference.get()}; }

  std::mt19937 rng{7};
  std::shared_ptr<Specializer> specializer;
  std::unique_ptr<DeviceSession> device;
  std::unique_ptr<runtime::Session> reference;
};

// Compiles in the run that asks, whatever it costs.
SpecializeOptions Eager() {
  SpecializeOptions options;
  options.wait = true;
  options.budget = false;
  return options;
}

TEST(Specializer, StatesAndParamsAreThoseOfTheSession) {
  Both both(Eager());
  both.Walk(120, 6);
  const SpecializeStats stats = both.specializer->stats();
  EXPECT_EQ(stats.compiled, 6);
  EXPECT_EQ(stats.failed, 0) << stats.last_error;
  EXPECT_EQ(stats.general_runs, 6);
  EXPECT_EQ(stats.specialized_runs, 114);
}

TEST(Specializer, RunsGoOnWhileASizeIsCompiled) {
  SpecializeOptions options;
  options.budget = false;
  Both both(options);
  for (int i = 0; i < 2000 && both.specializer->stats().specialized_runs < 20; ++i) {
    both.Walk(1, 2);
    if (HasFatalFailure()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(both.specializer->stats().specialized_runs, 20);
  EXPECT_GE(both.specializer->stats().general_runs, 2);
}

TEST(Specializer, SizesThatComeOnceAreNotCompiled) {
  Both both(Eager());
  both.Set("w", both.Random({4, 4}));
  for (int64_t n = 1; n <= 12; ++n) both.Run(n);
  EXPECT_EQ(both.specializer->stats().compiled, 0);
  EXPECT_EQ(both.specializer->stats().general_runs, 12);
}

// A compile takes far longer than these runs, so that the second one has to wait for more runs.
TEST(Specializer, CompilesTakeNoMoreTimeThanRuns) {
  SpecializeOptions options = Eager();
  options.budget = true;
  Both both(options);
  both.Set("w", both.Random({4, 4}));
  for (int i = 0; i < 3; ++i) {
    for (int64_t n = 1; n <= 12; ++n) both.Run(n);
  }
  EXPECT_GE(both.specializer->stats().compiled, 1);
  EXPECT_LE(both.specializer->stats().compiled, 2);
}

TEST(Specializer, SessionsAreBounded) {
  SpecializeOptions options = Eager();
  options.max_sessions = 2;
  Both both(options);
  both.Set("w", both.Random({4, 4}));
  for (int i = 0; i < 60; ++i) both.Run(1 + i % 5);
  const SpecializeStats stats = both.specializer->stats();
  EXPECT_GT(stats.dropped, 0);
  // Where sizes come by turns, compiling them is given up little by little.
  EXPECT_LE(stats.compiled, 16);
  EXPECT_LE(stats.compiled - stats.dropped, 2);
}

TEST(Specializer, MemoryIsBounded) {
  SpecializeOptions options = Eager();
  options.max_bytes = 1;
  Both both(options);
  both.Walk(40, 3);
  const SpecializeStats stats = both.specializer->stats();
  // A size is found to be too large when it has run once.
  EXPECT_LE(stats.specialized_runs, 3);
  EXPECT_EQ(stats.failed, 3) << stats.last_error;
}

TEST(Specializer, WhatFailsToCompileIsRunByTheGeneralPlan) {
  Both both(Eager(), kText, {{&kFailing, {}}});
  both.Walk(20, 2);
  const SpecializeStats stats = both.specializer->stats();
  EXPECT_EQ(stats.failed, 2);
  EXPECT_EQ(stats.general_runs, 20);
  EXPECT_NE(stats.last_error.find("planted"), std::string::npos) << stats.last_error;
}

TEST(Specializer, SessionsOfSeveralThreads) {
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([seed] {
      SpecializeOptions options;
      options.budget = false;
      Both both(options);
      both.rng.seed(seed);
      both.Walk(60, 4);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The greatest temporary has more bytes than any device, so that buffers have the sizes of a run,
// and other memory when a larger one comes.
TEST(Specializer, BuffersWithTheSizesOfRuns) {
  Both both(Eager(), R"(tg 1
module @m
var @n : [1, 16777216]
buffer @x : f32[@n, 4] input
buffer @y : f32[@n, 4] output

graph @main {
  %x = buffer @x : f32
  %n = var @n : index
  %0 = reshape %x {shape = [%n, 4, 1]} : f32
  %1 = expand %0 {shape = [%n, 4, 65536]} : f32
  %2 = contiguous %1 : f32
  %3 = reduce_axis %2 {op = max, axes = [2]} : f32
  %4 = reshape %3 {shape = [%n, 4]} : f32
  sink %4 -> @y
}
)");
  for (const int64_t n : {2, 2, 1, 2, 1, 3, 2, 1, 3, 2, 3}) both.Run(n, {"y"});
  EXPECT_EQ(both.specializer->stats().compiled, 3);
  EXPECT_EQ(both.specializer->stats().failed, 0) << both.specializer->stats().last_error;
}

// The rows of x and z together, with @p added, and sums of products of both.
constexpr char kTwoSizes[] = R"(tg 1
module @m
var @n : [1, 6]
var @m : [1, 12]
var @p : [0, 40]
buffer @x : f32[@n, 4] input
buffer @z : f32[@m, 4] input
buffer @y : f32[add(@n, @m), 4] output
buffer @s : f32[@n, 4] output

graph @main {
  %n = var @n : index
  %m = var @m : index
  %x = buffer @x : f32
  %z = buffer @z : f32
  %0 = pad %x {widths = [(0, %m), (0, 0)]} : f32
  %1 = pad %z {widths = [(%n, 0), (0, 0)]} : f32
  %2 = add %0, %1 : f32
  %p = var @p : index
  %3 = cast %p : f32
  %4 = add %2, %3 : f32
  %xr = reshape %x {shape = [%n, 1, 4]} : f32
  %xe = expand %xr {shape = [%n, %m, 4]} : f32
  %zr = reshape %z {shape = [1, %m, 4]} : f32
  %ze = expand %zr {shape = [%n, %m, 4]} : f32
  %5 = mul %xe, %ze : f32
  %6 = reduce_axis %5 {op = add, axes = [1]} : f32
  %7 = reshape %6 {shape = [%n, 4]} : f32
  sink %4 -> @y, %7 -> @s
}
)";

void RunTwoSizes(Both& both, int64_t n, int64_t m, int64_t p) {
  both.Set("z", both.Random({m, 4}));
  for (runtime::Session* s : both.sessions()) ASSERT_TRUE(s->SetVar("p", p).ok());
  both.Run(n, {"y", "s"});
}

// As a text grows token by token: one query, more and more keys.
TEST(Specializer, WhatStaysIsASize) {
  Both both(Eager(), kTwoSizes);
  for (int64_t m = 1; m <= 10; ++m) {
    RunTwoSizes(both, 2, m, 3 * m);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(both.specializer->stats().compiled, 1) << both.specializer->stats().last_error;
  EXPECT_EQ(both.specializer->stats().general_runs, 2);
  EXPECT_EQ(both.specializer->stats().specialized_runs, 8);
  EXPECT_EQ(both.specializer->last_size(), "n = 2");
  // Another size is not for this plan; a whole size that comes again has its own.
  RunTwoSizes(both, 3, 11, 4);
  EXPECT_EQ(both.specializer->stats().general_runs, 3);
  RunTwoSizes(both, 2, 1, 3);
  EXPECT_EQ(both.specializer->last_size(), "m = 1, n = 2, p = 3");
  RunTwoSizes(both, 2, 12, 7);
  EXPECT_EQ(both.specializer->last_size(), "n = 2");
}

TEST(Specializer, SizesThatComeByTurnsHavePlansOfTheirOwn) {
  Both both(Eager(), kTwoSizes);
  for (int i = 0; i < 12; ++i) {
    RunTwoSizes(both, 2, 3 + i % 2, 1);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(both.specializer->stats().compiled, 2);
  EXPECT_EQ(both.specializer->stats().general_runs, 2);
}

TEST(Specializer, RandomSizesOfTwoVariables) {
  SpecializeOptions options = Eager();
  options.max_sessions = 4;
  Both both(options, kTwoSizes);
  for (int i = 0; i < 150; ++i) {
    const auto any = [&](int64_t least, int64_t most) {
      return std::uniform_int_distribution<int64_t>(least, most)(both.rng);
    };
    RunTwoSizes(both, any(1, 3), any(1, 12), any(0, 2));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(both.specializer->stats().specialized_runs, 50);
  EXPECT_EQ(both.specializer->stats().failed, 0) << both.specializer->stats().last_error;
}

// Sessions that programs open have such plans, unless they ask for none. A plan for one size has no
// variables.
TEST(Specializer, OfASessionThatAProgramOpens) {
  for (const bool specialize : {true, false}) {
    runtime::OpenOptions how("native");
    how.devices.specialize = specialize;
    auto opened = runtime::OpenSession(Parse(kText), how);
    ASSERT_TRUE(opened.ok()) << opened.status();
    auto& session = static_cast<DeviceSession&>(**opened);
    ASSERT_TRUE(session.Set("w", Floats({4, 4}, std::vector<float>(16, 0.5f))).ok());
    ASSERT_TRUE(session.Set("x", Floats({2, 4}, std::vector<float>(8, 1.0f))).ok());
    bool is_general = true;
    for (int i = 0; i < (specialize ? 5000 : 50) && is_general; ++i) {
      ASSERT_TRUE(session.Run().ok());
      is_general = !session.last_plan()->VarsOf(0).empty();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(is_general, !specialize);
  }
}

TEST(Specializer, IsNotMadeWhereNothingIsOpen) {
  Both both(Eager(), R"(tg 1
module @m
var @n : [3, 3]
buffer @x : f32[@n, 4] input
buffer @y : f32[@n, 4] output

graph @main {
  %x = buffer @x : f32
  %y = add %x, %x : f32
  sink %y -> @y
}
)");
  EXPECT_EQ(both.specializer, nullptr);
  both.Run(3, {"y"});
}

}  // namespace
}  // namespace tg::specialize
