#include "runtime/plan/input_dependence.h"

#include <gtest/gtest.h>

#include <string>

#include "base/status.h"
#include "ir/text/testing.h"
#include "runtime/plan/launch_order.h"
#include "runtime/plan/testing.h"

namespace tg::runtime {
namespace {

// @main computes t = 2w, u = x + k, v = t + k and y = u + v, where @init computes k from w. Each
// kernel adds two buffers.
constexpr char kHead[] = R"(tg 1
module @m
buffer @x : f32[4] input
buffer @w : f32[4] param
buffer @k : f32[4] state
buffer @count : f32[4] state
buffer @t : f32[4] temp
buffer @u : f32[4] temp
buffer @v : f32[4] temp
buffer @y : f32[4] output

)";
constexpr char kKernel[] = R"(
kernel @add : linear {
  %y = define_global {arg = 0} : ptr<f32, 4>
  %a = define_global {arg = 1} : ptr<f32, 4>
  %b = define_global {arg = 2} : ptr<f32, 4>
  %4 = const 4 : i32
  %i = special %4 {name = local0} : i32
  %0 = index %a, %i : ptr<f32, 4>
  %1 = load %0 : f32
  %2 = index %b, %i : ptr<f32, 4>
  %3 = load %2 : f32
  %5 = add %1, %3 : f32
  %6 = index %y, %i : ptr<f32, 4>
  %7 = store %6, %5
  sink %7
}
)";

TEST(InputDependence, FollowsBuffers) {
  const auto module = ParseOrFail(
      Cat(kHead, "graph @init {\n", CallsText("add k: w w"), "}\ngraph @main {\n",
          CallsText("add t: w w, add u: x k, add v: t k, add y: u v, add count: count w"), "}\n",
          kKernel));
  ASSERT_NE(module, nullptr);
  const auto main = MakeSchedule(*module, *module->FindGraph("main"));
  ASSERT_TRUE(main.ok()) << main.status();
  std::string text;
  const std::vector<bool> depend = StepsThatDependOnInput(*module, *main);
  for (size_t i = 0; i < main->size(); ++i) {
    text += module->buffers[static_cast<size_t>((*main)[i].buffers[0].buffer)].name;
    text += depend[i] ? "+ " : "- ";
  }
  EXPECT_EQ(text, "count+ t- u+ v- y+ ");
  const auto init = MakeSchedule(*module, *module->FindGraph("init"));
  ASSERT_TRUE(init.ok()) << init.status();
  EXPECT_EQ(StepsThatDependOnInput(*module, *init), std::vector<bool>{false});
}

}  // namespace
}  // namespace tg::runtime
