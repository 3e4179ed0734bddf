// Which nodes of an imported model each kernel computes (ir/module.h).
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text/printer.h"
#include "ir/text/testing.h"
#include "passes/kernelize/kernelize.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"

namespace tg::kernelize {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr const passes::Pass* kOnly[] = {&kKernelizePass};

void Kernelize(Module& module) {
  ASSERT_TRUE(passes::PassManager(passes::MakePipeline(kOnly)).Run(module).ok());
}

// The origins of the kernels that `graph` of `module` calls, in the order of the graph.
std::vector<std::string> OriginsOf(const Module& module, std::string_view graph) {
  std::vector<std::string> all;
  const Body& body = module.FindGraph(graph)->body;
  for (const UOp* u : body.Order()) {
    if (u->op != Op::kKernel) continue;
    all.emplace_back(body.context->String(body.side.origin(u)));
  }
  return all;
}

// Makes kernels of a module each of whose computed nodes has its name as origin. The module that
// comes out is the same as without origins.
std::unique_ptr<Module> WithOrigins(const std::string& text) {
  const std::unique_ptr<Module> plain = ParseOrFail(text);
  std::unique_ptr<Module> module = ParseOrFail(text);
  if (module == nullptr) return nullptr;
  for (const auto& graph : module->graphs) {
    for (const UOp* u : graph->body.Order()) {
      if (u->num_srcs > 0 && graph->body.side.name(u)) {
        graph->body.side.SetOrigin(u, graph->body.side.name(u));
      }
    }
  }
  Kernelize(*plain);
  Kernelize(*module);
  EXPECT_EQ(PrintModule(*plain), PrintModule(*module));
  return module;
}

TEST(Origins, TheMostWorkComesFirst) {
  const auto module = WithOrigins(R"(tg 1
module @m
buffer @x : f32[8, 64] input
buffer @y : f32[8, 1] output
graph @main {
  %x = buffer @x : f32
  %square = mul %x, %x : f32
  %sum = reduce_axis %square {op = add, axes = [1]} : f32
  %root = sqrt %sum : f32
  sink %root -> @y
}
)");
  EXPECT_THAT(OriginsOf(*module, "main"), ElementsAre("sum\nsquare\nroot"));
}

// Two calls of one kernel.
TEST(Origins, BelongToCallsNotToKernels) {
  const auto module = WithOrigins(R"(tg 1
module @m
buffer @x : f32[64] input
buffer @a : f32[64] output
buffer @b : f32[64] output
graph @main {
  %x = buffer @x : f32
  %first = exp2 %x : f32
  %a = contiguous %first : f32
  %second = exp2 %a : f32
  %b = contiguous %second : f32
  sink %a -> @a, %b -> @b
}
)");
  EXPECT_EQ(module->kernels.size(), 1u);
  EXPECT_THAT(OriginsOf(*module, "main"), UnorderedElementsAre("first", "second"));
}

// The parts of a sum that is split are of the same node.
TEST(Origins, OfTheStepsOfASplitReduce) {
  const auto module = WithOrigins(R"(tg 1
module @m
buffer @x : f32[4194304] input
buffer @y : f32[1] output
graph @main {
  %x = buffer @x : f32
  %sum = reduce_axis %x {op = add, axes = [0]} : f32
  sink %sum -> @y
}
)");
  EXPECT_THAT(OriginsOf(*module, "main"), ElementsAre("sum", "sum"));
}

TEST(Origins, OfWhatIsComputedOnce) {
  const auto module = WithOrigins(R"(tg 1
module @m
buffer @x : f32[4, 64] input
buffer @w : f32[64, 64] param
buffer @s : f32[64, 64] param
buffer @y : f32[4, 64, 1] output
graph @main {
  %x = buffer @x : f32
  %w = buffer @w : f32
  %s = buffer @s : f32
  %scaled = mul %w, %s : f32
  %0 = reshape %scaled {shape = [1, 64, 64]} : f32
  %1 = expand %0 {shape = [4, 64, 64]} : f32
  %2 = reshape %x {shape = [4, 1, 64]} : f32
  %3 = expand %2 {shape = [4, 64, 64]} : f32
  %product = mul %1, %3 : f32
  %sum = reduce_axis %product {op = add, axes = [2]} : f32
  sink %sum -> @y
}
)");
  EXPECT_THAT(OriginsOf(*module, "init"), ElementsAre("scaled"));
  EXPECT_THAT(OriginsOf(*module, "main"), ElementsAre("sum\nproduct"));
}

// A kernel that copies its input to a part of the result.
TEST(Origins, OfACopy) {
  const auto module = WithOrigins(R"(tg 1
module @m
buffer @x : f32[64] input
buffer @y : f32[64] output
graph @main {
  %x = buffer @x : f32
  %y = buffer @y : f32
  %copy = assign %y, %x : f32
  sink %copy
}
)");
  EXPECT_THAT(OriginsOf(*module, "main"), ElementsAre("copy"));
}

}  // namespace
}  // namespace tg::kernelize
