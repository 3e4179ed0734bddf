#include "runtime/plan/plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "codegen/opencl/renderer.h"
#include "ir/scratch.h"
#include "ir/text/parser.h"
#include "passes/target.h"
#include "runtime/opencl/cl_program.h"
#include "runtime/opencl/testing.h"
#include "runtime/plan/kernel_stats.h"
#include "runtime/plan/launch_order.h"
#include "runtime/plan/testing.h"

namespace tg::runtime {
namespace {

// y = x * factor, as a kernel with `groups` groups of 4.
std::string ScaleKernel(const std::string& name, const std::string& factor) {
  return "kernel @" + name + R"( : linear {
  %y = define_global {arg = 0} : ptr<f32, 64>
  %x = define_global {arg = 1} : ptr<f32, 64>
  %16 = const 16 : i32
  %4 = const 4 : i32
  %g = special %16 {name = grid0} : i32
  %l = special %4 {name = local0} : i32
  %0 = mul %g, %4 : i32
  %i = add %0, %l : i32
  %a = index %x, %i : ptr<f32, 64>
  %v = load %a : f32
  %c = const )" +
         factor + R"( : f32
  %w = mul %v, %c : f32
  %b = index %y, %i : ptr<f32, 64>
  %s = store %b, %w
  sink %s
}
)";
}

// Sets each of the first n elements to its index times n.
constexpr char kCountKernel[] = R"(
kernel @count : linear {
  %y = define_global {arg = 0} : ptr<f32, 64>
  %n = var @n : i32
  %g = special %n {name = grid0} : i32
  %b = index %y, %g : ptr<f32, 64>
  %p = mul %g, %n : i32
  %v = cast %p : f32
  %s = store %b, %v
  sink %s
}
)";

class PlanTest : public ::testing::Test {
 protected:
  absl::Status Load(const std::string& text) {
    text_ = text;
    Diagnostics diagnostics;
    module_ = ParseModule(text_, "test.uop", diagnostics);
    if (module_ == nullptr) return diagnostics.ToStatus();
    TG_ASSIGN_OR_RETURN(rendered_, opencl::RenderModule(*module_, *passes::FindTarget("cl-cpu")));
    TG_ASSIGN_OR_RETURN(auto program, BuildProgram(context_, rendered_.source, "", nullptr));
    for (size_t i = 0; i < rendered_.kernels.size(); ++i) {
      CompiledKernel& kernel = *compiled_.emplace_back(std::make_unique<CompiledKernel>());
      kernel.kernel = static_cast<int>(i);
      kernel.name = module_->kernels[i]->name;
      kernel.code = rendered_.kernels[i];
      kernel.local_bytes = ScratchBytes(module_->kernels[i]->body.linear, AddrSpace::kLocal);
      executable_.kernel_names.push_back(kernel.name);
      built_[kernel.kernel] = {&kernel, program};
    }
    for (const BufferDecl& decl : module_->buffers) {
      if (decl.role == Role::kTemp) continue;
      TG_ASSIGN_OR_RETURN(const size_t bytes, BufferBytes(*module_, decl));
      TG_ASSIGN_OR_RETURN(buffers_[decl.name], pool_.Allocate(bytes));
    }
    return absl::OkStatus();
  }
  absl::StatusOr<Plan> Make(const VarMap& vars = {}) {
    const auto count_work = [&](const CompiledKernel& kernel, const VarLookup& var) {
      return CountWork(*module_->kernels[static_cast<size_t>(kernel.kernel)], var);
    };
    const PlanDevice device = {"", &built_, &pool_, count_work};
    static_cast<Declarations&>(executable_) = *module_;
    executable_.graphs.resize(1);
    executable_.graphs[0].name = module_->graphs[0]->name;
    TG_ASSIGN_OR_RETURN(executable_.graphs[0].steps, MakeSchedule(*module_, *module_->graphs[0]));
    return Plan::Create(executable_, executable_.graphs[0], std::span(&device, 1), buffers_, vars);
  }
  // Returns the error message of creating a plan.
  std::string Failure(const VarMap& vars = {}) {
    return std::string(Make(vars).status().message());
  }
  void Fill(const std::string& buffer, const std::vector<float>& values) {
    ASSERT_TRUE(Write(*buffers_[buffer], 0, std::as_bytes(std::span(values))).ok());
  }
  std::vector<float> Contents(const std::string& buffer) {
    std::vector<float> values(buffers_[buffer]->size() / 4);
    EXPECT_TRUE(Read(*buffers_[buffer], 0, std::as_writable_bytes(std::span(values))).ok());
    return values;
  }
  std::vector<float> RandomValues() {
    std::vector<float> values(64);
    for (float& v : values) {
      random_ = random_ * 1664525 + 1013904223;  // Numerical Recipes
      v = static_cast<float>(static_cast<int32_t>(random_)) * 0x1p-31f;
    }
    return values;
  }

  std::shared_ptr<OpenClContext> context_ = TestContext();
  BufferPool pool_{context_};
  uint32_t random_ = 3;
  std::string text_;
  std::unique_ptr<Module> module_;
  codegen::RenderedModule rendered_;
  Executable executable_;
  std::vector<std::unique_ptr<CompiledKernel>> compiled_;
  BuiltKernels built_;
  NamedBuffers buffers_;
};

std::string Chain() {
  return R"(tg 1
module @chain
buffer @x : f32[64] input
buffer @t0 : f32[64] temp
buffer @t1 : f32[64] temp
buffer @t2 : f32[64] temp
buffer @y : f32[64] output

graph @main {
)" + CallsText("twice t0: x, thrice t1: t0, twice t2: t1, thrice y: t2") +
         "}\n" + ScaleKernel("twice", "2.0") + "\n" + ScaleKernel("thrice", "3.0");
}

TEST_F(PlanTest, ChainIsReplayed) {
  ASSERT_TRUE(Load(Chain()).ok());
  absl::StatusOr<Plan> plan = Make();
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->temporaries().separate_bytes, 3u * 256);
  EXPECT_EQ(plan->temporaries().planned_bytes, 2u * 256);
  for (int run = 0; run < 3; ++run) {
    const std::vector<float> x = RandomValues();
    Fill("x", x);
    ASSERT_TRUE(plan->Enqueue().ok());
    const std::vector<float> y = Contents("y");
    for (size_t i = 0; i < 64; ++i) ASSERT_EQ(y[i], x[i] * 2 * 3 * 2 * 3) << i;
  }
}

TEST_F(PlanTest, SaysWhatKernelsDo) {
  ASSERT_TRUE(Load(Chain()).ok());
  absl::StatusOr<Plan> plan = Make();
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->kernels().size(), 4u);
  const PlannedKernel& kernel = plan->kernels()[1];
  EXPECT_EQ(kernel.kernel->name, "thrice");
  EXPECT_EQ(kernel.range.global[0], 64u);
  EXPECT_EQ(kernel.range.local[0], 4u);
  EXPECT_EQ(kernel.num_args, 2u);
  EXPECT_EQ(kernel.buffer_bytes, 2u * 256);
  EXPECT_EQ(kernel.work.ops, 64);
  EXPECT_EQ(kernel.work.load_bytes, 256);
  EXPECT_EQ(kernel.work.store_bytes, 256);
}

TEST_F(PlanTest, TimesKernels) {
  ASSERT_TRUE(Load(Chain()).ok());
  absl::StatusOr<Plan> plan = Make();
  ASSERT_TRUE(plan.ok()) << plan.status();
  Fill("x", RandomValues());
  std::vector<Event> events;
  ASSERT_TRUE(plan->Enqueue(&events).ok());
  ASSERT_EQ(events.size(), 4u);
  uint64_t last_end = 0;
  for (const Event& event : events) {
    const auto times = WaitForTimes(*context_, event);
    ASSERT_TRUE(times.ok()) << times.status();
    EXPECT_LE(last_end, times->started);
    EXPECT_LE(times->started, times->ended);
    last_end = times->ended;
  }
}

constexpr char kStepHead[] = R"(tg 1
module @step
buffer @s : f32[64] state
buffer @t : f32[64] temp

graph @main {
)";

TEST_F(PlanTest, StatePersists) {
  ASSERT_TRUE(Load(kStepHead + CallsText("thrice t: s, twice s: t") + "}\n" +
                   ScaleKernel("twice", "2.0") + "\n" + ScaleKernel("thrice", "3.0"))
                  .ok());
  absl::StatusOr<Plan> plan = Make();
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<float> expected = RandomValues();
  Fill("s", expected);
  for (int run = 0; run < 4; ++run) {
    ASSERT_TRUE(plan->Enqueue().ok());
    for (float& v : expected) v = v * 3 * 2;
  }
  EXPECT_EQ(Contents("s"), expected);
}

constexpr char kCountHead[] = R"(tg 1
module @counting
var @n : [0, 64]
buffer @y : f32[64] output

graph @main {
  %y = buffer @y : f32
  %n = var @n : index
  %0 = kernel @count(%y, %n)
  %1 = assign %y, %0 : f32
  sink %1
}
)";

TEST_F(PlanTest, GridDependsOnVariable) {
  ASSERT_TRUE(Load(std::string(kCountHead) + kCountKernel).ok());
  absl::StatusOr<Plan> plan = Make({{"n", 5}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const int64_t n : {5, 64, 0, 1, 33}) {
    SCOPED_TRACE(n);
    ASSERT_TRUE(plan->SetVars({{"n", n}}).ok());
    Fill("y", std::vector<float>(64, -1));
    ASSERT_TRUE(plan->Enqueue().ok());
    EXPECT_EQ(plan->kernels()[0].empty, n == 0);
    const std::vector<float> y = Contents("y");
    for (int64_t i = 0; i < 64; ++i) {
      ASSERT_EQ(y[static_cast<size_t>(i)], i < n ? static_cast<float>(i * n) : -1) << i;
    }
  }
}

TEST_F(PlanTest, BoundVariableWins) {
  std::string text = kCountHead;
  text.replace(text.find("%0 = kernel"), 25,
               "%c = const 7 : index\n  %b = bind %n, %c : index\n  %0 = kernel @count(%y, %b");
  ASSERT_TRUE(Load(text + kCountKernel).ok()) << text;
  absl::StatusOr<Plan> plan = Make();
  ASSERT_TRUE(plan.ok()) << plan.status();
  Fill("y", std::vector<float>(64, -1));
  ASSERT_TRUE(plan->Enqueue().ok());
  EXPECT_EQ(Contents("y")[6], 42);
  EXPECT_EQ(Contents("y")[7], -1);
}

TEST_F(PlanTest, VariableErrors) {
  ASSERT_TRUE(Load(std::string(kCountHead) + kCountKernel).ok());
  EXPECT_EQ(Failure(), "kernel @count: variable @n has no value");
  EXPECT_EQ(Failure({{"n", 65}}), "variable @n is 65, outside of its bounds [0, 64]");
  EXPECT_EQ(Failure({{"m", 1}}), "there is no variable @m");
}

TEST_F(PlanTest, MissingBufferAndKernel) {
  ASSERT_TRUE(Load(Chain()).ok());
  BufferRef x = buffers_["x"];
  buffers_.erase("x");
  EXPECT_EQ(Failure(), "kernel @twice: buffer @x is not allocated");
  buffers_["x"] = x;
  built_.erase(1);
  EXPECT_EQ(Failure(), "kernel @thrice has not been compiled");
}

TEST(BufferBytes, Sizes) {
  Module module;
  module.vars.push_back({.name = "n", .min = 1, .max = 10});
  const auto bytes = [&](DType type, std::vector<DeclDim> shape) {
    return BufferBytes(module, {.name = "b", .dtype = type, .shape = std::move(shape)});
  };
  EXPECT_EQ(*bytes(kF32, {}), 4u);
  EXPECT_EQ(*bytes(kF16, {{3, ""}, {5, ""}}), 30u);
  EXPECT_EQ(*bytes(kF32, {{0, "n"}, {8, ""}}), 320u);
  EXPECT_EQ(*bytes(kF32, {{0, ""}, {8, ""}}), 0u);
  EXPECT_EQ(bytes(kF32, {{1LL << 40, ""}, {1LL << 40, ""}}).status().message(),
            "buffer @b has more bytes than 64 bits count");
  EXPECT_EQ(bytes(kF32, {{0, "m"}}).status().message(), "buffer @b: there is no variable @m");
}

}  // namespace
}  // namespace tg::runtime
