// Sessions on the device and on the interpreter have the same observable behaviour.
#include "runtime/session/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "passes/instrument/write_file.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "runtime/io/safetensors.h"
#include "runtime/opencl/testing.h"
#include "runtime/session/device_session.h"
#include "runtime/session/open.h"
#include "runtime/session/reference_session.h"
#include "runtime/session/session_testing.h"

namespace tg::runtime {
namespace {

INSTANTIATE_TEST_SUITE_P(Both, SessionTest, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "Reference" : "Device");
});

constexpr char kWeights[] = R"(tg 1
module @weights
buffer @x : f32[2] input
buffer @w : f32[2] param
buffer @count : f32[] state = [2.0]
buffer @table : f32[2] state
buffer @y : f32[2] output

graph @main {
  %x = buffer @x : f32
  %w = buffer @w : f32
  %0 = sqrt %w : f32
  %1 = recip %0 : f32
  %table = buffer @table : f32
  %2 = mul %1, %table : f32
  %3 = mul %x, %2 : f32
  %count = buffer @count : f32
  %4 = reshape %count {shape = [1]} : f32
  %5 = expand %4 {shape = [2]} : f32
  %6 = add %3, %5 : f32
  %one = const 1.0 : f32
  %7 = add %count, %one : f32
  %8 = add %table, %one : f32
  sink %6 -> @y, %7 -> @count, %8 -> @table
}

graph @init {
  %w = buffer @w : f32
  %0 = add %w, %w : f32
  sink %0 -> @table
}
)";

// The module's @init and the compiler's additions to it run before the first run and after a param
// was set; states start with the values that the module defines.
TEST_P(SessionTest, InitRunsOnceForEachSetOfParams) {
  ASSERT_OK(Open(kWeights));
  ASSERT_OK(session_->Set("x", Floats({2}, {1, 2})));
  EXPECT_EQ(Message(session_->Run()), "graph @main needs what is not given: param @w (f32[2])");
  ASSERT_OK(session_->Set("w", Floats({2}, {4, 16})));
  ASSERT_OK(session_->Run());
  EXPECT_EQ(Get("y"), (std::vector<float>{1 * 8 / 2.0f + 2, 2 * 32 / 4.0f + 2}));
  ASSERT_OK(session_->Run());  // the table has changed since, but @init has not run again
  EXPECT_EQ(Get("y"), (std::vector<float>{1 * 9 / 2.0f + 3, 2 * 33 / 4.0f + 3}));
  ASSERT_OK(session_->Set("w", Floats({2}, {16, 4})));
  ASSERT_OK(session_->Run());
  EXPECT_EQ(Get("y"), (std::vector<float>{1 * 32 / 4.0f + 4, 2 * 8 / 2.0f + 4}));
}

// Several runs with one wait do what as many calls do.
TEST_P(SessionTest, RunsInARow) {
  ASSERT_OK(Open(kWeights));
  ASSERT_OK(session_->Set("x", Floats({2}, {1, 2})));
  ASSERT_OK(session_->Set("w", Floats({2}, {4, 16})));
  ASSERT_OK(session_->Run("main", 3));
  EXPECT_EQ(Get("y"), (std::vector<float>{1 * 10 / 2.0f + 4, 2 * 34 / 4.0f + 4}));
  EXPECT_EQ(Get("count"), (std::vector<float>{5}));
  EXPECT_EQ(Message(session_->Run("main", 0)), "a graph cannot run 0 times");
}

constexpr char kAffine[] = R"(tg 1
module @affine
buffer @x : f32[2, 3] input
buffer @w : f32[3] param = [0.5, -1.0, 2.0]
buffer @y : f32[2, 3] output

graph @main {
  %x = buffer @x : f32
  %w = buffer @w : f32
  %0 = reshape %w {shape = [1, 3]} : f32
  %1 = expand %0 {shape = [2, 3]} : f32
  %2 = mul %x, %1 : f32
  sink %2 -> @y
}
)";

TEST_P(SessionTest, InputsParamsOutputs) {
  ASSERT_OK(Open(kAffine));
  ASSERT_TRUE(session_->Set("x", Floats({2, 3}, {1, 2, 3, 4, 5, 6})).ok());
  ASSERT_TRUE(session_->Run().ok());
  EXPECT_EQ(Get("y"), (std::vector<float>{0.5, -2, 6, 2, -5, 12}));
  ASSERT_TRUE(session_->Set("x", Floats({2, 3}, {0, 1, 0, -1, 0, 0.25})).ok());
  ASSERT_TRUE(session_->Run("main").ok());
  EXPECT_EQ(Get("y"), (std::vector<float>{0, -1, 0, -0.5, 0, 0.5}));
  EXPECT_EQ(Get("w"), (std::vector<float>{0.5, -1, 2}));
}

TEST_P(SessionTest, WhatIsMissingIsNamed) {
  ASSERT_OK(Open(kAffine));
  EXPECT_EQ(Message(session_->Run()), "graph @main needs what is not given: input @x (f32[2, 3])");
  EXPECT_EQ(Message(session_->Run("mian")), "there is no graph @mian; there are @main");
  EXPECT_EQ(Message(session_->Get("y").status()), "@y has no contents yet");
  EXPECT_EQ(Message(session_->Get("z").status()).substr(0, 21), "there is no buffer @z");
}

// Three variables: one in an output's shape, one that an input's shape determines, and one that a
// bind sets.
constexpr char kVariables[] = R"(tg 1
module @variables
var @n : [1, 6]
var @m : [2, 4]
var @one : [1, 1]
buffer @x : f32[@n] input
buffer @y : f32[@m] output
buffer @z : f32[@n] output

graph @main {
  %m = var @m : index
  %one = var @one : index
  %0 = mul %m, %one : index
  %1 = cast %0 : f32
  %2 = reshape %1 {shape = [1]} : f32
  %3 = expand %2 {shape = [%m]} : f32
  %x = buffer @x : f32
  sink %3 -> @y, %x -> @z
}
)";

TEST_P(SessionTest, MissingVariablesAreNamedWithTheirBounds) {
  ASSERT_OK(Open(kVariables));
  // @n is missing because @x is.
  EXPECT_EQ(Message(session_->Run()),
            "graph @main needs what is not given: input @x (f32[@n]), variable @m (2 to 4)");
  ASSERT_OK(session_->Set("x", Floats({2}, {1, 2})));
  EXPECT_EQ(Message(session_->Run()), "graph @main needs what is not given: variable @m (2 to 4)");
  ASSERT_OK(session_->SetVar("m", 3));
  ASSERT_OK(session_->Run());
  EXPECT_EQ(Get("y"), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(Get("z"), (std::vector<float>{1, 2}));
}

TEST_P(SessionTest, WrongInputsAreRefused) {
  ASSERT_OK(Open(kAffine));
  EXPECT_EQ(Message(session_->Set("x", Floats({3, 2}, {1, 2, 3, 4, 5, 6}))),
            "buffer @x is f32[2, 3], not f32[3, 2]");
  HostTensor ints = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ints.type = ElementType::kI32;
  EXPECT_EQ(Message(session_->Set("x", ints)), "buffer @x is f32[2, 3], not i32[2, 3]");
  EXPECT_EQ(Message(session_->Set("y", Floats({2, 3}, {1, 2, 3, 4, 5, 6}))),
            "@y is no input but output");
  EXPECT_EQ(Message(session_->Set("w", Floats({3}, {1, 2, 3}))),
            "@w is no input but param with contents of its own");
  EXPECT_EQ(Message(session_->Set("img", Floats({1}, {1}))),
            "there is no input @img; there are @x");
}

TEST_P(SessionTest, StatesBeginAsZerosAndPersist) {
  ASSERT_OK(Open(R"(tg 1
module @m
buffer @x : f32[4] input
buffer @sum : f32[4] state

graph @main {
  %x = buffer @x : f32
  %sum = buffer @sum : f32
  %0 = add %sum, %x : f32
  %1 = assign %sum, %0 : f32
  sink %1
}
)"));
  ASSERT_TRUE(session_->Set("x", Floats({4}, {1, 2, 3, 4})).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(session_->Run().ok());
  EXPECT_EQ(Get("sum"), (std::vector<float>{3, 6, 9, 12}));
  ASSERT_TRUE(session_->Set("sum", Floats({4}, {100, 0, 0, 0})).ok());
  ASSERT_TRUE(session_->Run().ok());
  EXPECT_EQ(Get("sum"), (std::vector<float>{101, 2, 3, 4}));
}

constexpr char kSymbolic[] = R"(tg 1
module @m
var @n : [1, 6]
buffer @x : f32[@n, 2] input
buffer @z : f32[@n, 2] input
buffer @y : f32[@n, 2] output

graph @main {
  %x = buffer @x : f32
  %z = buffer @z : f32
  %0 = add %x, %z : f32
  sink %0 -> @y
}
)";

TEST_P(SessionTest, VariablesFollowFromShapes) {
  ASSERT_OK(Open(kSymbolic));
  for (const int64_t n : {3, 6, 1}) {
    std::vector<float> x, z, expected;
    for (int64_t i = 0; i < 2 * n; ++i) {
      x.push_back(static_cast<float>(i * i));
      z.push_back(static_cast<float>(7 - i));
      expected.push_back(x.back() + z.back());
    }
    ASSERT_TRUE(session_->Set("x", Floats({n, 2}, x)).ok());
    ASSERT_TRUE(session_->Set("z", Floats({n, 2}, z)).ok());
    const absl::Status run = session_->Run();
    ASSERT_TRUE(run.ok()) << run;
    EXPECT_EQ(session_->Get("y")->shape, (std::vector<int64_t>{n, 2}));
    EXPECT_EQ(Get("y"), expected);
  }
}

TEST_P(SessionTest, VariablesAreChecked) {
  ASSERT_OK(Open(kSymbolic));
  EXPECT_EQ(Message(session_->Set("x", Floats({7, 2}, std::vector<float>(14)))),
            "buffer @x is f32[@n, 2] with @n in [1, 6], not f32[7, 2]");
  EXPECT_EQ(Message(session_->SetVar("n", 9)), "variable @n cannot be 9: its bounds are [1, 6]");
  EXPECT_EQ(Message(session_->SetVar("k", 1)), "there is no variable @k; there are @n");
  ASSERT_TRUE(session_->Set("x", Floats({2, 2}, {1, 2, 3, 4})).ok());
  ASSERT_TRUE(session_->Set("z", Floats({1, 2}, {1, 2})).ok());
  EXPECT_EQ(Message(session_->Run()),
            "buffer @z is f32[@n, 2] and @n is 2, so it cannot be f32[1, 2]");
  ASSERT_TRUE(session_->Set("z", Floats({2, 2}, {1, 2, 3, 4})).ok());
  ASSERT_TRUE(session_->SetVar("n", 3).ok());
  EXPECT_EQ(Message(session_->Run()),
            "buffer @x is f32[@n, 2] and @n is 3, so it cannot be f32[2, 2]");
}

// Two graphs share one state, like the prompt and next-token graphs of a language model.
TEST_P(SessionTest, GraphsShareStates) {
  ASSERT_OK(Open(R"(tg 1
module @m
buffer @x : f32[3] input
buffer @s : f32[3] state
buffer @y : f32[3] output

graph @fill {
  %x = buffer @x : f32
  %s = buffer @s : f32
  %0 = assign %s, %x : f32
  sink %0
}

graph @double {
  %s = buffer @s : f32
  %0 = add %s, %s : f32
  sink %0 -> @y
}
)"));
  EXPECT_EQ(Message(session_->Run()), "there is no graph @main; there are @fill, @double");
  ASSERT_TRUE(session_->Set("x", Floats({3}, {1, 2, 3})).ok());
  ASSERT_TRUE(session_->Run("fill").ok());
  ASSERT_TRUE(session_->Run("double").ok());
  EXPECT_EQ(Get("y"), (std::vector<float>{2, 4, 6}));
}

TEST_P(SessionTest, EmptyTensors) {
  ASSERT_OK(Open(R"(tg 1
module @m
buffer @x : f32[0, 4] input
buffer @y : f32[4] output
buffer @z : f32[0, 4] output

graph @main {
  %x = buffer @x : f32
  %0 = reduce_axis %x {op = add, axes = [0]} : f32
  %1 = reshape %0 {shape = [4]} : f32
  %2 = neg %x : f32
  sink %1 -> @y, %2 -> @z
}
)"));
  ASSERT_TRUE(session_->Set("x", Floats({0, 4}, {})).ok());
  const absl::Status run = session_->Run();
  ASSERT_TRUE(run.ok()) << run;
  EXPECT_EQ(Get("y"), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(Get("z"), std::vector<float>());
}

class ParamsTest : public SessionTest {
 protected:
  ParamsTest() : folder_(std::string(std::getenv("TEST_TMPDIR")) + "/") {
    const std::vector<float> w = {1, 2, 3, 4};
    EXPECT_TRUE(WriteSafetensors(folder_ + "m.safetensors",
                                 {{"w", ElementType::kF32, {4}, std::as_bytes(std::span(w))}})
                    .ok());
  }
  absl::Status OpenWith(const std::string& param) {
    const std::string type = param.substr(0, param.find(' '));
    TG_RETURN_IF_ERROR(Open("tg 1\nmodule @m\nbuffer @w : " + param + "\nbuffer @y : " + type +
                                R"( output

graph @main {
  %w = buffer @w : f32
  %0 = add %w, %w : f32
  sink %0 -> @y
}
)",
                            folder_ + "m.uop"));
    return session_->Run();
  }
  const std::string folder_;
};

INSTANTIATE_TEST_SUITE_P(Both, ParamsTest, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "Reference" : "Device");
});

TEST_P(ParamsTest, FileBesideTheModule) {
  const absl::Status status = OpenWith("f32[4] param = file(\"m.safetensors\", \"w\")");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Get("y"), (std::vector<float>{2, 4, 6, 8}));
}

TEST_P(ParamsTest, RunsOfBytesInAnyFile) {
  // Structures of two bytes and one float.
  std::string bytes = "head";
  for (const float v : {1.0F, 2.0F, 3.0F, 4.0F}) {
    bytes += "ab" + std::string(reinterpret_cast<const char*>(&v), sizeof v);
  }
  ASSERT_TRUE(instrument::WriteFile(folder_ + "m.bin", bytes).ok());
  const absl::Status status = OpenWith("f32[4] param = file(\"m.bin\", 6, 4, 6)");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Get("y"), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(Message(OpenWith("f32[4] param = file(\"m.bin\", 7, 4, 6)")),
            "param @w: " + folder_ + "m.bin has 28 bytes, but 22 are read from byte 7");
  EXPECT_EQ(
      Message(OpenWith("f32[4] param = file(\"m.bin\", 0, 4, 4611686018427387904)")),
      "param @w: " + folder_ + "m.bin has 28 bytes, but 13835058055282163716 are read from byte 0");
}

TEST_P(ParamsTest, Errors) {
  std::string message = Message(OpenWith("f32[4] param = file(\"n.safetensors\", \"w\")"));
  EXPECT_NE(message.find("param @w: cannot open " + folder_ + "n.safetensors"), std::string::npos)
      << message;
  message = Message(OpenWith("f32[4] param = file(\"m.safetensors\", \"v\")"));
  EXPECT_NE(message.find("param @w: "), std::string::npos) << message;
  EXPECT_NE(message.find("no tensor \"v\""), std::string::npos) << message;
  message = Message(OpenWith("f32[2,2] param = file(\"m.safetensors\", \"w\")"));
  EXPECT_EQ(message, folder_ + "m.safetensors, tensor 'w': buffer @w is f32[2, 2], not f32[4]");
}

TEST_P(ParamsTest, GivenByTheUser) {
  EXPECT_EQ(Message(OpenWith("f32[4] param")),
            "graph @main needs what is not given: param @w (f32[4])");
  ASSERT_TRUE(session_->Set("w", Floats({4}, {5, 6, 7, 8})).ok());
  ASSERT_TRUE(session_->Run().ok());
  EXPECT_EQ(Get("y"), (std::vector<float>{10, 12, 14, 16}));
}

// y = x + 1, made without any text.
std::unique_ptr<Module> BuiltModule() {
  auto module = std::make_unique<Module>();
  module->name = "built";
  module->buffers = {{.name = "x", .dtype = kF32, .shape = {{3, ""}}, .role = Role::kInput},
                     {.name = "y", .dtype = kF32, .shape = {{3, ""}}, .role = Role::kOutput}};
  auto graph = std::make_unique<Graph>();
  graph->name = "main";
  Builder b(*graph->body.context);
  const UOp* y = b.Add(b.Buffer("x", kF32), b.Const(kF32, 1));
  const std::string_view targets[] = {"y"};
  graph->body.root = b.Sink({&y, 1}, targets);
  module->graphs.push_back(std::move(graph));
  return module;
}

TEST(OpenSession, AModuleAtAnyStage) {
  for (const char* device : {"reference", ""}) {
    // Passes that have run already, from none to all.
    for (size_t passes = 0; passes <= passes::kPipeline.size(); ++passes) {
      std::unique_ptr<Module> module = BuiltModule();
      passes::Pipeline pipeline = passes::MakePipeline(std::span(passes::kPipeline).first(passes));
      ASSERT_OK(passes::PassManager(std::move(pipeline)).Run(*module));
      absl::StatusOr<std::unique_ptr<Session>> session = OpenSession(std::move(module), device);
      ASSERT_TRUE(session.ok()) << session.status();
      ASSERT_OK((*session)->Set("x", Floats({3}, {0.5, -1, 2})));
      ASSERT_OK((*session)->Run());
      EXPECT_EQ(Values(*(*session)->Get("y")), (std::vector<float>{1.5, 0, 3})) << passes;
    }
  }
}

TEST(OpenSession, AnInvalidModule) {
  for (const char* device : {"reference", ""}) {
    std::unique_ptr<Module> module = BuiltModule();
    module->buffers[1].shape = {{4, ""}};
    const absl::Status status = OpenSession(std::move(module), device).status();
    EXPECT_NE(Message(status).find("@y"), std::string::npos) << status;
    EXPECT_EQ(OpenSession(std::unique_ptr<Module>(), device).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace tg::runtime
